// Package integration tests the proxy against the software it is made for: QEMU
// with spice-server and the keydraw guest on one side of an emulated link,
// spice-gtk's clients on the other.
//
//	       namespace of the server             namespace of the client
//	QEMU ── loopback ── kerbside-proxy ── link ── spicy-screenshot, remote-viewer
//	  │                                           (under Xvfb), headless client
//	 QMP: the screen as it is, keys, resets
//
// What is asserted are states and generous ratios, never times: pictures agree
// pixel by pixel with QEMU's own, a key changes the box in the picture, no channel
// ends, a failure is told with the peer and the reason. Waits end with an event or
// with a deadline.
//
// Wireshark gives a second opinion on the parsers: what tshark makes of captured
// sessions is compared message by message (docs/second-opinion.md).
//
// TestSamePicture drives one guest and one viewer through random activities,
// resolutions and links and compares the pictures after each; a program on
// spice-server's library, testdata/qxlplay, does the same with commands that no
// guest here gives: COPY_BITS, blends, off-screen surfaces, cached images and
// palettes, clips, streams. What spice-server and spice-gtk do wrong with streams by
// themselves is told in docs/display-queue.md. The seed is told and can be given
// again. The long ones are 200 runs each, with all of spice-server's compressions:
//
//	SPICEPACER_LONG=1 go test -timeout 90m -v -run 'SamePicture|PaintedLate' ./integration
//	SPICEPACER_SEED=... go test -v -run SamePicture ./integration
//
// The tests need root, /dev/net/tun and programs of the Debian packages
// qemu-system-x86, linux-image-amd64, spice-client-gtk, virt-viewer, xvfb, xdotool,
// imagemagick and tshark; a missing one is a failure that names its package. What
// is built with gcc, pkg-config and libspice-server-dev is skipped without them,
// but not in CI. They take about five minutes, or some seconds with -short:
//
//	go test ./integration
//
// Pictures, logs and configurations of each test are kept with
//
//	go test -artifacts -outputdir DIR ./integration
//
// Sessions to give an opinion on are captured anew only when asked for:
//
//	SPICEPACER_LONG=1 go test -timeout 40m -v -run SecondOpinionOfLive ./integration
//
// The soak is long and runs only when asked for; SPICEPACER_SOAK sets its length:
//
//	SPICEPACER_LONG=1 SPICEPACER_SOAK=10m go test -timeout 20m -v -run Soak ./integration
//
// Every test has a lab of its own and takes it down in t.Cleanup. Processes die
// with the test binary, and the namespaces of one that was killed are removed by
// the next.
package integration
