package room_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestOutside: no test of the room stands inside its package, where it would hold the room to
// what it looks like inside.
func TestOutside(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(data, []byte("\npackage room_test\n")) && !bytes.HasPrefix(data, []byte("package room_test\n")) {
			t.Errorf("%s is inside the package: a test of the room drives it as a host does, and a decision of one part is tested there", file)
		}
	}
}
