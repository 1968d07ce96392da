package wire

import (
	"errors"
	"testing"

	"muster/discovery/sentence"
)

// TestStrangeKeys checks that a key that does nothing is refused, with the name of the one that was meant.
func TestStrangeKeys(t *testing.T) {
	for key, want := range map[string]string{
		"max_rtt_ms": "limits_ms", "max-rtt": "limits_ms", "maxRTT": "limits_ms", "limit_ms": "limits_ms", "limits": "limits_ms",
		"rule": "by", "Players": "players", "max_players": "players", "player": "players", "sideA": "side_a", "turn": "turn_ms",
		"verison": "version", "long-look": "long_look_ms", "MAP": "map",
	} {
		var why *Refusal
		_, err := Settings{}.Patched([]byte(`{"`+key+`":1}`), OnPage)
		if !errors.As(err, &why) || why.Advises != sentence.Of("refused.no-key-like", "name", want) {
			t.Errorf("%s: %v", key, err)
		}
	}
	for key, isKnown := range map[string]bool{"colour": false, "league": false, "open": false, "": false, "map": true} {
		_, err := Settings{By: "mean"}.Patched([]byte(`{"`+key+`":""}`), OnPage)
		if isKnown != (err == nil) {
			t.Errorf("%q: %v", key, err)
		}
	}
	var order struct {
		Addr string `json:"addr"`
		Own  string `json:"-"`
	}
	for body, isRead := range map[string]bool{
		`{"addr":"a"}`: true, "\ufeff{}": true, "null": true, `{"Addr":"a"}`: false, `{"Own":"a"}`: false, `{"-":"a"}`: false, `{"server":"a"}`: false, `[]`: false,
	} {
		if err := Read([]byte(body), &order); (err == nil) != isRead {
			t.Errorf("%s: %v", body, err)
		}
	}
}
