package lobby

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"muster/host/matchfile"
	"muster/host/wire"
	"muster/internal/game"
)

// matchFiles writes the files about the room's match that the command names, and adds their paths to
// the venue. It returns their folder, which is empty if there are none. Only this user can read them,
// because they have the server's password.
func (s *Starter) matchFiles(v *game.Venue, news wire.Snapshot) (folder string, err error) {
	wanted := slices.DeleteFunc(game.MatchFiles(), func(name string) bool { return !s.Hook.Has(name) })
	if news.Match == nil || len(wanted) == 0 {
		return "", nil
	}
	match := wire.RecordOf(s.code, news.Room.Name, wire.Played{
		Round: news.Room.Round, At: time.Now(), Game: v.Game, Server: v.Place, Connect: v.Address.String(), Map: v.Map, Match: news.Match,
	})
	settings := s.Settings()
	match.Password = settings.Password
	match.Identify(settings.SteamIDs)
	if folder, err = os.MkdirTemp("", "muster-match-"); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(folder)
		}
	}()
	v.Files = map[string]string{}
	for _, name := range wanted {
		var text []byte
		if name == "match" {
			text, err = json.Marshal(match)
		} else {
			text, err = matchfile.Of(matchfile.Kind(name), match)
		}
		if err != nil {
			return "", err
		}
		v.Files[name] = filepath.Join(folder, name+".json")
		if err := os.WriteFile(v.Files[name], text, 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}
