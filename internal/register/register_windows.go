package register

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows/registry"
)

const classes = `Software\Classes\muster`

func add(program string) (string, error) {
	for _, entry := range []struct{ key, name, value string }{
		{classes, "", "URL:Muster"},
		{classes, "URL Protocol", ""},
		{classes + `\DefaultIcon`, "", `"` + program + `",0`},
		{classes + `\shell\open\command`, "", `"` + program + `" open "%1"`},
	} {
		key, _, err := registry.CreateKey(registry.CURRENT_USER, entry.key, registry.SET_VALUE)
		if err == nil {
			err = errors.Join(key.SetStringValue(entry.name, entry.value), key.Close())
		}
		if err != nil {
			return "", fmt.Errorf(`register: HKEY_CURRENT_USER\%s: %w`, entry.key, err)
		}
	}
	return `HKEY_CURRENT_USER\` + classes, nil
}

func remove() (string, error) {
	removed := ""
	for _, below := range []string{`\shell\open\command`, `\shell\open`, `\shell`, `\DefaultIcon`, ""} {
		switch err := registry.DeleteKey(registry.CURRENT_USER, classes+below); {
		case err == nil:
			removed = `HKEY_CURRENT_USER\` + classes
		case !errors.Is(err, registry.ErrNotExist):
			return "", fmt.Errorf(`register: HKEY_CURRENT_USER\%s: %w`, classes+below, err)
		}
	}
	return removed, nil
}
