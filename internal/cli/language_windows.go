package cli

import "golang.org/x/sys/windows"

// systemLanguages returns the languages that the user has chosen in Windows, the preferred one first.
func systemLanguages() []string {
	tags, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil {
		return nil // the terminal is in English then
	}
	return tags
}
