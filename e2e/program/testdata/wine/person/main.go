// Command person operates a program on Windows as a user would, with one action after the other:
//
//	person PROGRAM sees TEXT types TEXT sees TEXT closes misses
//
// It waits until TEXT is in the program's console window, types TEXT there, closes the window, and
// waits until the program has ended.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	// patience is more than any wait takes; lookAgain is the pause between looks.
	patience  = time.Minute
	lookAgain = 100 * time.Millisecond
)

func main() {
	program, rest := os.Args[1], os.Args[2:]
	for len(rest) > 0 {
		var act func() error
		switch rest[0] {
		case "sees":
			act = func() error { return sees(program, rest[1]) }
		case "types":
			act = func() error { return types(program, rest[1]) }
		case "closes":
			act = func() error { return closes(program) }
		case "misses":
			act = func() error { return misses(program) }
		}
		err := act()
		for deadline := time.Now().Add(patience); err != nil && time.Now().Before(deadline); err = act() {
			time.Sleep(lookAgain)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		if rest[0] == "sees" || rest[0] == "types" {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
}

// running returns the process numbers of the running programs, by name.
func running() (map[string]uint32, error) {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(snapshot)
	programs := map[string]uint32{}
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		programs[windows.UTF16ToString(entry.ExeFile[:])] = entry.ProcessID
	}
	return programs, nil
}

func misses(program string) error {
	programs, err := running()
	if _, runs := programs[program]; runs {
		return errors.New(program + " still runs")
	}
	return err
}

func call(dll, name string, args ...uintptr) (uintptr, error) {
	value, _, err := windows.NewLazySystemDLL(dll).NewProc(name).Call(args...)
	if value == 0 {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return value, nil
}

// attach attaches to a program's console, and opens a part of it.
func attach(program, part string) (windows.Handle, error) {
	programs, err := running()
	if err != nil {
		return 0, err
	}
	if programs[program] == 0 {
		return 0, errors.New(program + " does not run")
	}
	call("kernel32.dll", "FreeConsole") // there may be none
	if _, err := call("kernel32.dll", "AttachConsole", uintptr(programs[program])); err != nil {
		return 0, err
	}
	path, err := windows.UTF16PtrFromString(part)
	if err != nil {
		return 0, err
	}
	return windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE, nil, windows.OPEN_EXISTING, 0, 0)
}

// sees returns nil if want is in the window. Lines that the window's edge wraps count as one.
func sees(program, want string) error {
	screen, err := attach(program, "CONOUT$")
	if err != nil {
		return err
	}
	defer windows.CloseHandle(screen)
	var info windows.ConsoleScreenBufferInfo
	if err := windows.GetConsoleScreenBufferInfo(screen, &info); err != nil {
		return err
	}
	width := int(info.Size.X)
	cells := make([]uint16, width*(int(info.CursorPosition.Y)+1))
	var read uint32
	if _, err := call("kernel32.dll", "ReadConsoleOutputCharacterW", uintptr(screen),
		uintptr(unsafe.Pointer(&cells[0])), uintptr(len(cells)), 0, uintptr(unsafe.Pointer(&read))); err != nil {
		return err
	}
	text := ""
	for row := range slices.Chunk(cells, width) {
		line := string(utf16.Decode(row))
		if short := strings.TrimRight(line, " "); len(short) < len(line) {
			line = short + "\n"
		}
		text += line
	}
	if !strings.Contains(text, want) {
		return fmt.Errorf("there is no %q in the window of %s:\n%s", want, program, text)
	}
	return nil
}

// types presses and releases a key for each character.
func types(program, text string) error {
	keys, err := attach(program, "CONIN$")
	if err != nil {
		return err
	}
	defer windows.CloseHandle(keys)
	type event struct { // INPUT_RECORD with a KEY_EVENT_RECORD
		kind      uint16
		_         uint16
		down      int32
		repeated  uint16
		key, scan uint16
		character uint16
		control   uint32
	}
	const keyEvent = 1
	var events []event
	for _, c := range utf16.Encode([]rune(text)) {
		press := event{kind: keyEvent, down: 1, repeated: 1, character: c}
		if c == '\r' {
			press.key = windows.VK_RETURN
		}
		release := press
		release.down = 0
		events = append(events, press, release)
	}
	var written uint32
	_, err = call("kernel32.dll", "WriteConsoleInputW", uintptr(keys),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(&written)))
	return err
}

func closes(program string) error {
	if _, err := attach(program, "CONOUT$"); err != nil {
		return err
	}
	window, err := call("kernel32.dll", "GetConsoleWindow")
	if err != nil {
		return err
	}
	const wmClose = 0x10
	_, err = call("user32.dll", "PostMessageW", window, wmClose, 0, 0)
	return err
}
