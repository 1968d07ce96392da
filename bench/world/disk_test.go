package main

import (
	"testing"
)

// TestDisk checks that a disk loses nothing that was confirmed, unless it lies, and knows when it has; and that a
// store is in any case as it once was.
func TestDisk(t *testing.T) {
	lost := 0
	for n := range 60 {
		lies := n%2 == 1
		d := newDisk(uint64(n), t.Logf)
		d.kills(func() {})
		file, err := d.open()
		if err != nil {
			t.Fatal(err)
		}
		c, err := file.Create(t.Context(), "BAKODI", "", []byte("one"))
		if err != nil {
			t.Fatal(err)
		}
		d.set(&d.lies, lies)
		confirmed := "one"
		d.power(1 + n/2%6)
		for _, state := range []string{"two", "three"} {
			if c.Save(t.Context(), []byte(state)) == nil {
				confirmed = state
			}
		}
		d.power(0)
		file.Close()
		d.set(&d.lies, false)
		if file, err = d.open(); err != nil {
			t.Fatal(err)
		}
		d.says(file.Damage())
		_, data, err := file.Claim(t.Context(), "BAKODI")
		forgot, isSilent := d.hasForgotten()
		rank := map[string]int{"one": 1, "two": 2, "three": 3}
		if err != nil || rank[string(data)] == 0 || isSilent {
			t.Errorf("disk %d has %q, %v, and says so: %v", n, data, err, !isSilent)
		}
		if isLost := rank[string(data)] < rank[confirmed]; isLost && !lies || isLost != !forgot.IsZero() {
			t.Errorf("disk %d, which lies: %v, has %q of %q, and forgot something: %v", n, lies, data, confirmed, !forgot.IsZero())
		} else if isLost {
			lost++
		}
		file.Close()
		d.close()
	}
	if lost < 3 {
		t.Errorf("only %d disks of 30 that lie have lost anything", lost)
	}
}
