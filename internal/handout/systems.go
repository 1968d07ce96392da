package handout

import (
	"debug/buildinfo"
	"debug/macho"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"

	"muster/discovery/sentence"
)

// systems lists what Muster is built for, as GOOS-GOARCH. On macOS one program serves both processors, so there it is
// GOOS alone. The most common come first. name and advice are keys of the catalogue. release is how
// the program's file in a release ends, after the version.
// direct ends the archive that people take from the release page and run after unpacking.
var systems = [...]struct{ system, name, ending, advice, release, direct string }{
	{"windows-amd64", "get.windows", ".exe", onWindows, "_windows_amd64.exe", "_windows_amd64.exe"},
	{"darwin", "get.macos", ".zip", onMac, "_macos_universal", "_macos_universal.tar.gz"},
	{"darwin-arm64", "get.macos-apple", ".zip", onMac, "", "_macos_universal.tar.gz"},
	{"darwin-amd64", "get.macos-intel", ".zip", onMac, "", "_macos_universal.tar.gz"},
	{"linux-amd64", "get.linux", ".tar.gz", onLinux, "_linux_amd64", "_linux_amd64.tar.gz"},
	{"linux-arm64", "get.linux-arm", ".tar.gz", onLinux, "_linux_arm64", "_linux_arm64.tar.gz"},
	{"windows-arm64", "get.windows-arm", ".exe", onWindows, "_windows_arm64.exe", "_windows_arm64.exe"},
}

func isReleased(system string) bool {
	i := place(system)
	return i >= 0 && systems[i].release != ""
}

// These say what systems ask before they start a program for the first time.
const (
	onWindows = "get.advice-windows"
	onMac     = "get.advice-macos"
	onLinux   = "get.advice-linux"
)

// place returns a system's index in the list, or -1.
func place(system string) int {
	for i, s := range systems {
		if s.system == system {
			return i
		}
	}
	return -1
}

// mainPath is the import path of Muster's main package, that of the module. A published copy of the module has another
// path than this one.
var mainPath = strings.TrimSuffix(reflect.TypeFor[Config]().PkgPath(), "/internal/handout")

var errNoMuster = errors.New("handout: no build of Muster")

// systemOf returns the system that a build of Muster is for, from the information that Go puts into it. The file's name
// does not matter.
func systemOf(file io.ReaderAt) (string, error) {
	info, err := buildinfo.Read(file)
	if err != nil || info.Path != mainPath {
		return "", errNoMuster
	}
	var goos, goarch string
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			goos = s.Value
		case "GOARCH":
			goarch = s.Value
		}
	}
	if goos == "darwin" {
		if _, err := macho.NewFatFile(file); err == nil {
			return goos, nil
		}
	}
	return goos + "-" + goarch, nil
}

// visitor is what a browser says of its system.
type visitor struct {
	name sentence.Sentence
	// systems are those whose programs run there, best first.
	systems []string
	// phone says that it is a phone: people measure and play elsewhere.
	phone bool
}

// visitorOf reads a browser's User-Agent, and Sec-CH-UA-Platform if present. Browsers mostly hide the processor or
// misreport it. The usual one is assumed, because its programs run on the system's other processors, too.
func visitorOf(agent, platform string) visitor {
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(agent, word) || strings.Trim(platform, `"`) == word })
	}
	switch {
	case says("Android", "iPhone", "iPad", "iPod"):
		return visitor{name: sentence.Of("get.phone"), phone: true}
	case says("Windows"):
		return visitor{name: sentence.Of("get.windows"), systems: []string{"windows-amd64", "windows-arm64"}}
	case says("Macintosh", "macOS"):
		return visitor{name: sentence.Of("get.macos"), systems: []string{"darwin", "darwin-arm64", "darwin-amd64"}}
	case says("aarch64", "armv8"):
		return visitor{name: sentence.Of("get.linux-arm"), systems: []string{"linux-arm64"}}
	case says("Linux", "CrOS", "X11"):
		return visitor{name: sentence.Of("get.linux"), systems: []string{"linux-amd64"}}
	}
	return visitor{}
}
