package roomtime

import (
	"testing"
	"time"
)

func TestClocks(t *testing.T) {
	wall := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	now := Clocks{Opening.Add(time.Minute), wall}
	for at, want := range map[Time]time.Time{
		0:                            {},
		Opening:                      wall.Add(-time.Minute),
		Opening.Add(time.Minute):     wall,
		Opening.Add(2 * time.Minute): wall.Add(time.Minute),
	} {
		if got := now.Of(at); !got.Equal(want) {
			t.Errorf("%v is %v, want %v", at, got, want)
		}
	}
}

// TestNever checks that never is longer ago than any limit, and that a saved room's times are in
// the room's life.
func TestNever(t *testing.T) {
	if never := Time(0); Opening.Sub(never) < 300*24*time.Hour || !never.Before(Opening) || !never.IsZero() || Opening.IsZero() {
		t.Error("never is no long time ago")
	}
	for at, want := range map[Time]bool{0: true, 1: false, -1: false, Opening: true, Opening.Add(-time.Hour): true, 200 * Opening: false} {
		if at.IsValid() != want {
			t.Errorf("%d is valid: %v", at, !want)
		}
	}
}
