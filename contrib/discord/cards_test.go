package main

import "testing"

// TestReplacedWatch checks that a watch whose time is up leaves the room's newer watch in place.
func TestReplacedWatch(t *testing.T) {
	var c cards
	c.watched = map[string]*watch{}
	ended := false
	old, newer := &watch{func() { ended = true }, "secret"}, &watch{func() {}, ""}
	if !c.begin("BAKODI", old) || !c.begin("BAKODI", newer) || !ended {
		t.Fatal("the newer watch has not ended the old one")
	}
	if newer.secret != "secret" {
		t.Error("the newer watch forgets the organiser's secret")
	}
	if c.finish("BAKODI", old); c.watched["BAKODI"] != newer {
		t.Error("the old watch has taken the newer one away")
	}
	if c.finish("BAKODI", newer); len(c.watched) != 0 {
		t.Error("the newer watch stays")
	}
}
