package saved

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"muster/host/room/roomtime"
)

// TestRead checks that only rooms of this program's form are read, and that other rooms are refused
// with the right reason.
func TestRead(t *testing.T) {
	now := int64(roomtime.Opening)
	for text, want := range map[string]error{
		`{"form":"muster.room/2","at":"later"}`: ErrNewer,
		`{"form":"muster.room/10"}`:             ErrNewer,
		`{"version":4,"players":[]}`:            ErrOlder,
		`{"form":"muster.room/0"}`:              ErrOlder,
		`{"form":"muster.room/"}`:               ErrOlder,
		`{"form":"other"}`:                      ErrOlder,
	} {
		if _, err := Read([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, isRoom := range map[string]bool{
		fmt.Sprintf(`{"form":%q,"now":%d,"round":3,"added":{"by":"another program"}}`, Form, now): true,
		fmt.Sprintf(`{"form":%q,"now":%d}`, Form, now-1):                                          false,
		fmt.Sprintf(`{"form":%q,"now":%d}`, Form, 101*now):                                        false,
		fmt.Sprintf(`{"form":%q}`, Form):                                                          false,
		fmt.Sprintf(`{"form":%q,"now":%d,"round":"three"}`, Form, now):                            false,
		`{"form":1}`: false,
		`{`:          false,
	} {
		if s, err := Read([]byte(text)); (err == nil) != isRoom || isRoom && s.Round != 3 {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLoseList checks that a room that waits for its next try keeps that, and nothing about servers,
// and that a damaged one is told.
func TestLoseList(t *testing.T) {
	for knows, want := range map[string]string{
		`{"retry":5,"wait":{"began":1,"servers":[{"server":3}]}}`: `{"retry":5}`,
		`{}`: `{}`,
		`[]`: "",
	} {
		s := Room{Phase: Phase{Name: "failed", Knows: json.RawMessage(knows)}}
		if err := s.LoseList(); (err == nil) != (want != "") || err == nil && string(s.Phase.Knows) != want {
			t.Errorf("of %s is left %s, %v", knows, s.Phase.Knows, err)
		}
	}
}
