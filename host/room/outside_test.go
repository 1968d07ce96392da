package room_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestOutside checks that no test of the room is in its package, where it would depend on the
// room's inside.
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
