package zandronum

import (
	"errors"
	"slices"
	"testing"

	"muster/discovery"
	"muster/discovery/internal/codectest"
)

// These packets are written by hand after Zandronum's documentation.
const (
	firstPart = "\xff\x06\x00\x00\x00\x00\x08" + "\x02\xc0\x00\x02\x01\xaa\x29\xab\x29" + "\x01\xc6\x33\x64\x07\xaa\x29" + "\x00\x07"
	lastPart  = "\xff\x06\x00\x00\x00\x01\x08" + "\x01\xcb\x00\x71\x09\xaa\x29" + "\x00\x02"
	emptyPart = "\xff\x06\x00\x00\x00\x00\x08\x00\x02"
)

func TestMaster(t *testing.T) {
	m := Protocol{}.Master()
	if got := string(m.AppendListQuery(nil)); got != "\xff\x7c\x5d\x56\x00\x02\x00" || m.Repeats() {
		t.Errorf("it is asked %q", got)
	}
	for _, c := range []struct {
		datagram string
		want     []string
		end      bool
	}{
		{firstPart, []string{"192.0.2.1:10666", "192.0.2.1:10667", "198.51.100.7:10666"}, false},
		{lastPart, []string{"203.0.113.9:10666"}, true},
		{emptyPart, nil, true},
	} {
		if got, end, err := codectest.List(m, c.datagram); !slices.Equal(got, c.want) || end != c.end || err != nil {
			t.Errorf("%q: %v, %v, %v", c.datagram, got, end, err)
		}
	}
	codectest.RefusesList(t, m, map[string]string{
		"nothing": "", "a server's answer": shaped, "no block": "\xff\x06\x00\x00\x00\x00\x07", "cut short": firstPart[:len(firstPart)-1],
		"half a port": firstPart[:13], "no end": emptyPart[:8] + "\x08",
	})
	for kind, want := range map[string]error{"\x03": errBanned, "\x04": errWaits, "\x05": errOld} {
		if _, _, err := codectest.List(m, "\xff"+kind+"\x00\x00\x00"); err != want || errors.Is(err, discovery.ErrMalformed) {
			t.Errorf("kind %q: %v, want %v", kind, err, want)
		}
	}
}

func FuzzMaster(f *testing.F) {
	f.Add([]byte(firstPart))
	f.Add([]byte("\x00\x06Hello"))
	codectest.FuzzList(f, Protocol{}.Master())
}
