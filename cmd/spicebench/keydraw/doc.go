// Package keydraw is the measuring guest: a program that runs as PID 1 on a
// bare kernel, shows a static picture with a key box, repaints the box at every
// key press and, if asked, animates another part of the screen. A client that
// sends a key and waits for the box measures how long the guest's answer queues
// behind the animation.
//
// It is the guest of Kerbside's shaped-link rig in its geometry, colours,
// plasma and schedule, and adds activities, mode switches and a frame rate
// report. What it does is set on the kernel command line (see Knobs), and anew by
// each line of such words that it reads from the console; what it did is told
// there:
//
//	KEYDRAW START screen=1280x800 box=16,16,112,112 area=624,160,1264,640 activity=plasma ...
//	KEYDRAW MODE 1152x720 area=496,120,1136,600
//	KEYDRAW SET activity=windows fps=20 ... (a line was read; a MODE line, if any, comes first)
//	KEYDRAW FPS 30.0
//	KEYDRAW ERROR open /dev/dri/card0: no such file or directory
//
// Rectangles are left,top,right,bottom in pixels, right and bottom exclusive.
package keydraw

// The lines the guest prints on its console begin with one of these.
const (
	StartLine = "KEYDRAW START" // the picture is on the screen, keys are answered
	ModeLine  = "KEYDRAW MODE"  // the resolution has changed
	SetLine   = "KEYDRAW SET"   // a line of knobs holds, and all before it is painted
	FPSLine   = "KEYDRAW FPS"   // activity frames per second since the last such line
	ErrorLine = "KEYDRAW ERROR" // the guest gave up and is powering off
)

// ModuleDir is the directory of the initrd that holds the kernel modules, named
// NN-NAME.ko with or without a compression suffix. They are loaded in the order
// of their names.
const ModuleDir = "/m"
