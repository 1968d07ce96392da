package discovery

import (
	"encoding"
	"testing"
	"time"
)

func TestNamesReadAndWriteThemselves(t *testing.T) {
	for _, s := range Strategies() {
		var back Strategy
		text, _ := encoding.TextMarshaler(s).MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != s {
			t.Errorf("%s came back as %q, %v", s, back, err)
		}
	}
	for _, a := range append(AutoStops(), StopDefault) {
		var back AutoStop
		text, _ := encoding.TextMarshaler(a).MarshalText()
		if err := back.UnmarshalText(text); err != nil || back != a {
			t.Errorf("%s came back as %q, %v", a, back, err)
		}
	}
	var s Strategy
	var a AutoStop
	if s.UnmarshalText([]byte("nearest")) == nil || s.UnmarshalText(nil) == nil || a.UnmarshalText([]byte("on")) == nil {
		t.Error("an unknown name was read")
	}
}

func TestTheRuleOfAStrategy(t *testing.T) {
	tests := []struct {
		strategy    Strategy
		asked, want AutoStop
	}{
		{Conventional, StopPercentile, StopOff},
		{ByCountry, StopDefault, StopPercentile},
		{ByAS, StopConfident, StopConfident},
		{Adaptive, StopDefault, StopConfident},
		{Adaptive, StopSmooth, StopSmooth},
	}
	for _, tt := range tests {
		if got := tt.asked.Of(tt.strategy); got != tt.want {
			t.Errorf("%q of %s is %s, want %s", tt.asked, tt.strategy, got, tt.want)
		}
	}
}

func TestClaimSaysWhatItKnows(t *testing.T) {
	tests := []struct {
		claim Claim
		want  string
	}{
		{Claim{}, ""},
		{Claim{Low: 0.981, High: 0.9951, Limit: 200 * time.Millisecond}, "98–99 % of the servers under 200 ms found"},
		{Claim{Low: 0.991, High: 0.995, Limit: 120 * time.Millisecond}, "99 % of the servers under 120 ms found"},
		{Claim{Low: 1, High: 1, Limit: 200 * time.Millisecond}, "100 % of the servers under 200 ms found"},
	}
	for _, tt := range tests {
		if got := tt.claim.String(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.claim, got, tt.want)
		}
	}
}
