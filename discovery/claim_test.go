package discovery

import (
	"testing"
	"time"
)

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
