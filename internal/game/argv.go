package game

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Show is a command for people to read, as one would type it, with the password
// masked.
func Show(argv []string, password string) string {
	shown := make([]string, len(argv))
	for i, arg := range argv {
		if password != "" {
			arg = strings.ReplaceAll(arg, inURL(password), "***")
			arg = strings.ReplaceAll(arg, password, "***")
		}
		if arg == "" || strings.ContainsFunc(arg, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' }) {
			arg = strconv.Quote(arg)
		}
		shown[i] = arg
	}
	return strings.Join(shown, " ")
}

// Split takes a user's template apart at blanks. Single and double quotes keep
// blanks together and each other's kind as it is; a backslash is a backslash, as
// in the paths of Windows.
func Split(template string) ([]string, error) {
	var argv []string
	var arg strings.Builder
	quote, inArg := rune(0), false
	for _, r := range template {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, inArg = r, true
		case quote == 0 && unicode.IsSpace(r):
			if inArg {
				argv = append(argv, arg.String())
			}
			arg.Reset()
			inArg = false
		default:
			arg.WriteRune(r)
			inArg = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("game: launch command: a quote %c is never closed", quote)
	}
	if inArg {
		argv = append(argv, arg.String())
	}
	if len(argv) == 0 {
		return nil, errNoTemplate
	}
	return argv, nil
}
