package link

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// device is the name of the link's interface in both namespaces.
const device = "sp0"

// openTUN creates the link's device in the calling thread's namespace and returns
// its file, which the device does not outlive. Without IFF_VNET_HDR the
// device has no offloads, so every packet fits the MTU.
func openTUN() (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/net/tun: %w", err)
	}
	request, err := unix.NewIfreq(device)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("create TUN device %s: %w", device, err)
	}
	return os.NewFile(uintptr(fd), device), nil
}
