package cli

import (
	"bytes"
	"io"
	"strings"
)

// testProgram returns a program that prints to a buffer.
func testProgram(out *bytes.Buffer) *program {
	return newProgram(Streams{In: strings.NewReader(""), Out: io.Discard, Err: out}, func(string) string { return "" })
}
