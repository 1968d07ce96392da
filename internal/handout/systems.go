package handout

import (
	"debug/buildinfo"
	"debug/macho"
	"errors"
	"io"
	"slices"
	"strings"
)

// systems are those that Muster is built for, as GOOS-GOARCH, or for macOS GOOS alone
// where a program is for both processors. What most people have comes first. A release
// has the program in the file of that ending after the version, and for people to take
// from its page themselves the one of direct, which can be run once it is unpacked.
var systems = [...]struct{ system, name, ending, advice, release, direct string }{
	{"windows-amd64", "Windows", ".exe", onWindows, "_windows_amd64.exe", "_windows_amd64.exe"},
	{"darwin", "macOS", ".zip", onMac, "_macos_universal", "_macos_universal.tar.gz"},
	{"darwin-arm64", "macOS on Apple's processors", ".zip", onMac, "", "_macos_universal.tar.gz"},
	{"darwin-amd64", "macOS on Intel's processors", ".zip", onMac, "", "_macos_universal.tar.gz"},
	{"linux-amd64", "Linux", ".tar.gz", onLinux, "_linux_amd64", "_linux_amd64.tar.gz"},
	{"linux-arm64", "Linux on ARM", ".tar.gz", onLinux, "_linux_arm64", "_linux_arm64.tar.gz"},
	{"windows-arm64", "Windows on ARM", ".exe", onWindows, "_windows_arm64.exe", "_windows_arm64.exe"},
}

// isReleased reports whether a release has a program for a system.
func isReleased(system string) bool {
	i := place(system)
	return i >= 0 && systems[i].release != ""
}

// What a system asks before it starts a program that it sees for the first time.
const (
	onWindows = "The browser may say that it is not commonly downloaded: choose “Keep”. Windows may say that it " +
		"protected your PC: choose “More info”, then “Run anyway”."
	onMac   = "macOS may say that it could not verify it: choose “Done”, and in System Settings, Privacy & Security, “Open Anyway”."
	onLinux = "Unpack it and double-click the program. If nothing opens, drag it into a terminal and press Enter."
)

// place is a system's in the list, or -1.
func place(system string) int {
	for i, s := range systems {
		if s.system == system {
			return i
		}
	}
	return -1
}

var errNoMuster = errors.New("handout: no build of Muster")

// systemOf is the system that a build of Muster is for, by what Go has noted in it,
// whatever the file is called.
func systemOf(file io.ReaderAt) (string, error) {
	info, err := buildinfo.Read(file)
	if err != nil || info.Path != "muster" {
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

// visitor is what somebody's browser says of the system.
type visitor struct {
	name string
	// systems are those whose programs run there, the best first.
	systems []string
	// phone: measuring and playing happen elsewhere.
	phone bool
}

// visitorOf reads a browser's User-Agent, and Sec-CH-UA-Platform if it sends that. What
// processor there is browsers mostly keep to themselves, or say wrong: the usual one is
// assumed, whose programs run on the others of the system, too.
func visitorOf(agent, platform string) visitor {
	says := func(words ...string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(agent, word) || strings.Trim(platform, `"`) == word })
	}
	switch {
	case says("Android", "iPhone", "iPad", "iPod"):
		return visitor{name: "a phone or tablet", phone: true}
	case says("Windows"):
		return visitor{name: "Windows", systems: []string{"windows-amd64", "windows-arm64"}}
	case says("Macintosh", "macOS"):
		return visitor{name: "macOS", systems: []string{"darwin", "darwin-arm64", "darwin-amd64"}}
	case says("aarch64", "armv8"):
		return visitor{name: "Linux on ARM", systems: []string{"linux-arm64"}}
	case says("Linux", "CrOS", "X11"):
		return visitor{name: "Linux", systems: []string{"linux-amd64"}}
	}
	return visitor{}
}
