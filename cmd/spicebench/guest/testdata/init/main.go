// The guest alone, for tests: test binaries may be dynamically linked.
package main

import "spicepacer/cmd/spicebench/keydraw"

func main() { keydraw.Main() }
