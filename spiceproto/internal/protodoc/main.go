// Protodoc writes docs/protocol.md from the grammar and the rules of package
// spiceproto.
package main

import (
	"flag"
	"log"
	"os"
)

func main() {
	out := flag.String("o", "", "file to write; standard output if empty")
	flag.Parse()
	page := render()
	if *out == "" {
		os.Stdout.Write(page)
		return
	}
	if err := os.WriteFile(*out, page, 0o644); err != nil {
		log.Fatalf("write the protocol page: %v", err)
	}
}
