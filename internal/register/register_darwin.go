package register

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// applet returns the path of the program that macOS calls for links, which must contain a list of its schemes. It is
// untested on a Mac.
func applet() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, "Applications", "Muster Links.app"), err
}

func add(program string) (string, error) {
	app, err := applet()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(app), 0o755)
	}
	if err != nil {
		return "", fmt.Errorf("register: %w", err)
	}
	script := `on open location link
	do shell script quoted form of "` + strings.ReplaceAll(program, `\`, `\\`) +
		`" & " open " & quoted form of link & " >/dev/null 2>&1 </dev/null &"
end open location`
	const types = `[{"CFBundleURLName":"Muster","CFBundleURLSchemes":["muster"]}]`
	info := filepath.Join(app, "Contents", "Info.plist")
	for _, command := range [][]string{
		{"osacompile", "-o", app, "-e", script},
		{"plutil", "-replace", "CFBundleURLTypes", "-json", types, info},
		{"plutil", "-replace", "CFBundleIdentifier", "-string", "muster.links", info},
		{"plutil", "-replace", "LSUIElement", "-bool", "true", info},
		{"/System/Library/Frameworks/CoreServices.framework/Frameworks/LaunchServices.framework/Support/lsregister", "-f", app},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("register: %s: %w: %s", filepath.Base(command[0]), err, strings.TrimSpace(string(out)))
		}
	}
	return app, nil
}

func remove() (string, error) {
	app, err := applet()
	if err != nil {
		return "", fmt.Errorf("register: %w", err)
	}
	if _, err := os.Stat(app); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err := os.RemoveAll(app); err != nil {
		return "", fmt.Errorf("register: %w", err)
	}
	return app, nil
}
