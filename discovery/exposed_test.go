package discovery_test

import (
	"testing"

	"muster/discovery"
	"muster/internal/catalogue"
)

// TestExposedSentence checks what players read before and after a search.
func TestExposedSentence(t *testing.T) {
	english := catalogue.InEnglish()
	for _, c := range []struct {
		of   discovery.Exposed
		want string
	}{
		{discovery.Exposed{Listed: 30_000}, "no server saw your address"},
		{discovery.Exposed{Servers: 642, Listed: 30_000, Again: 5, Times: 3}, "642 of 30,000 servers saw your address; the final 5 up to three times"},
		{discovery.Exposed{Servers: 642, Listed: 30_000, Again: 1, Times: 2}, "642 of 30,000 servers saw your address; one of them twice"},
		{discovery.Exposed{Servers: 642, Listed: 30_000}, "642 of 30,000 servers saw your address"},
		{discovery.Exposed{Servers: 5, Listed: 5, Again: 5, Times: 31}, "5 of 5 servers saw your address, up to 31 times"},
		{discovery.Exposed{Servers: 642, Listed: 30_000, Again: 5, Times: 3, Places: 6},
			"642 of 30,000 servers saw your address; the final 5 up to three times; so did 6 places where a server could be"},
		{discovery.Exposed{Servers: 2, Listed: 3, Places: 1}, "2 of 3 servers saw your address; so did 1 place where a server could be"},
		{discovery.Exposed{Listed: 3, Places: 2}, "no server saw your address, only 2 places where a server could be"},
		{discovery.Exposed{Servers: 1, Listed: 1}, "1 of 1 server saw your address"},
		{discovery.Exposed{Servers: 1234567, Listed: 1234567}, "1,234,567 of 1,234,567 servers saw your address"},
	} {
		if got := english.Say(c.of.Sentence()); got != c.want {
			t.Errorf("%+v: %q, want %q", c.of, got, c.want)
		}
	}
	for _, c := range []struct {
		most, discreet, listed int
		want                   string
	}{
		{650, 0, 30_000, "up to 650 of 30,000 servers will see your address"},
		{650, 50, 30_000, "up to 50 of 30,000 servers will see your address"},
		{650, 1000, 30_000, "up to 650 of 30,000 servers will see your address"},
		{650, 0, 400, "all 400 servers on the list may see your address"},
		{0, 0, 400, "all 400 servers on the list may see your address"},
		{0, 0, 1, "the one server on the list may see your address"},
		{0, 20, 400, "up to 20 of 400 servers will see your address"},
	} {
		if got := english.Say(discovery.ExposureNotice(c.most, c.discreet, c.listed)); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}
