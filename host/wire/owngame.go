package wire

import "strings"

// OwnGame is a game that the organiser has added to the table. It says what the game is called and
// how its servers are queried, and nothing about how the game is started. Players who do not have
// the game in their own table join by hand.
type OwnGame struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Protocol is the name of a protocol that players' programs speak.
	Protocol string `json:"protocol"`
	// Port is the port of its servers, unless the list names one.
	Port uint16 `json:"port"`
}

// check refuses a game that no table could have.
func (g OwnGame) check() error {
	switch {
	case !isWord(g.ID), !isWord(g.Protocol):
		return impossible("refused.own-game-word")
	case g.Name == "" || len(g.Name) > 2*maxWord:
		return impossible("refused.own-game-name", "n", 2*maxWord)
	case g.Port == 0:
		return impossible("refused.own-game-port")
	}
	return nil
}

func isWord(s string) bool {
	return s != "" && len(s) <= maxWord && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// maxWord is the longest id of a game or protocol, in bytes.
const maxWord = 32
