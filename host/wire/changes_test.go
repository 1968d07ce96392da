package wire

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/discovery"
	"muster/discovery/sentence"
	"muster/internal/catalogue"
	"muster/selection"
	"muster/selection/law"
)

// TestChanges checks that people read what the organiser has changed, and nothing else.
func TestChanges(t *testing.T) {
	weekly := Settings{
		Name:     "Friday",
		Game:     "openarena",
		By:       selection.Mean,
		Every:    "fri 20:00 Europe/Berlin",
		Password: "club",
		Webhook:  "https://clan.example/secret",
	}
	for _, test := range []struct {
		change func(*Settings)
		want   []string
	}{
		{func(*Settings) {}, nil},
		{func(s *Settings) { s.Map = "oa_dm1" }, []string{"the organiser wants openarena: lowest average, on oa_dm1"}},
		{func(s *Settings) {
			s.Limits = Limits{150 * time.Millisecond}
		}, []string{"the organiser wants openarena: lowest average, nobody over 150ms"}},
		{func(s *Settings) {
			s.Every = "sun,tue 18:05 UTC"
		}, []string{"the organiser has changed when we meet: we meet every Tuesday and Sunday at 18:05 (UTC)"}},
		{func(s *Settings) {
			s.Every = "2026-11-27 20:00 Europe/Berlin"
		}, []string{"the organiser has changed when we meet: we meet on Friday, 27 November 2026 at 20:00 (Europe/Berlin)"}},
		{func(s *Settings) { s.Every = "whenever" }, []string{"the organiser has changed when we meet: we meet whenever we like"}},
		{func(s *Settings) { s.Every = "" }, []string{"the room now ends with the night: the organiser no longer keeps it for the next"}},
		{func(s *Settings) {
			s.Name, s.Map = "Sunday", "oa_dm1"
		}, []string{"the organiser wants openarena: lowest average, on oa_dm1", "the room is now called Sunday"}},
		{func(s *Settings) {
			s.GuestsVote, s.Agree = true, No
		}, []string{"the organiser set “Before the launch” to “straight there” and “Guests” to “vote, too”"}},
		{func(s *Settings) { s.MaxBots = new(int) }, []string{"the organiser wants openarena: lowest average, without bots"}},
		{func(s *Settings) { s.By = selection.Threshold }, []string{"the organiser set “Rule” to “Average under a limit”"}},
		{func(s *Settings) { s.Agree = Yes }, []string{"the organiser set “Before the launch” to “vote, veto, ready check”"}},
		{func(s *Settings) {
			s.Wait = discovery.Millis(30 * time.Minute)
		}, []string{"the organiser set “If all are full, wait for seats for” to “30 min”"}},
		{func(s *Settings) { s.Voice = "https://discord.gg/hidden" }, []string{"the organiser set “Voice channel” to “Discord”"}},
		{func(s *Settings) {
			s.Webhook = "https://discord.com/api/webhooks/1/secret"
		}, []string{"the organiser set “Post to your channel, by webhook” to “Discord”"}},
		{func(s *Settings) { s.Webhook = "" }, []string{"the organiser set “Post to your channel, by webhook” to “nobody”"}},
		{func(s *Settings) {
			s.Places = Venues{{Name: "Frankfurt"}, {Name: "Paris"}}
		}, []string{"the organiser set “Places for a server of our own” to “Frankfurt and Paris”"}},
		{func(s *Settings) { s.Password, s.Strategy, s.Renews = "secret", "as", true }, nil},
	} {
		s := weekly
		test.change(&s)
		got := inEnglish(s.Changes(weekly))
		if !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
		if strings.Contains(strings.Join(got, " "), "secret") {
			t.Errorf("a secret is told: %q", got)
		}
	}
	first := weekly
	first.Every = ""
	if got, want := inEnglish(weekly.Changes(first)),
		[]string{"the organiser keeps the room after the night: we meet every Friday at 20:00 (Europe/Berlin)"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func inEnglish(sentences []sentence.Sentence) []string {
	return catalogue.InEnglish().SayAll(sentences)
}

// TestEveryChangeIsTold checks that every setting that the page can change has a sentence.
func TestEveryChangeIsTold(t *testing.T) {
	before := Settings{Game: "openarena", By: selection.Mean}
	for _, row := range Table() {
		if !OnPage(row) {
			continue
		}
		s := before
		switch to := row.Of(&s).(type) {
		case *string:
			if *to = "https://discord.gg/a"; row.Choices != nil {
				*to = row.Choices[len(row.Choices)-1]
			}
		case *bool:
			*to = true
		case *int:
			*to = 3
		case **int:
			*to = new(int)
		case *discovery.Millis:
			*to = discovery.Millis(time.Minute)
		case *selection.Rule:
			*to = selection.Threshold // as wanted as the mean, without a limit
		case *Limits:
			*to = Limits{time.Second}
		case *Decision:
			*to = Yes
		case *Venues:
			*to = Venues{{Name: "Paris"}}
		case *Law:
			to.Law = law.Known("eql")
		default:
			t.Errorf("%s is a %v", row.Key, reflect.TypeOf(to))
		}
		for _, got := range [][]string{inEnglish(s.Changes(before)), inEnglish(before.Changes(s))} {
			if len(got) != 1 || strings.Contains(got[0], "“”") || strings.Contains(got[0], "setting.") {
				t.Errorf("of %s people read %q", row.Key, got)
			}
		}
	}
}
