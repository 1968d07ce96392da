package roster

import "testing"

// TestCredentials checks that derived credentials are those in programs and links of earlier
// releases, and differ from each other.
func TestCredentials(t *testing.T) {
	for _, tt := range []struct{ what, got, want string }{
		{"a page", PageOf("token of ann"), "SEXJOTDTCK53WZGA"},
		{"a ticket", TicketOf("SEXJOTDTCK53WZGA"), "KO6Q36XUYS774PCM"},
		{"an owner", OwnerOf("SEXJOTDTCK53WZGA"), "425PD4TKWUXW7VMT"},
		{"nobody's", OwnerOf(""), ""},
		{"a mark", MarkOf("SEXJOTDTCK53WZGA"), "Y4KKXNKJOZYDTJ4M"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s is %q, want %q", tt.what, tt.got, tt.want)
		}
	}
	if isSame("", "") || isSame("a", "b") || isSame("a", "ab") || !isSame("a", "a") {
		t.Error("credentials are taken for others, or an empty one for somebody's")
	}
}
