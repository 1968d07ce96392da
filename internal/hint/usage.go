package hint

import (
	"errors"
	"fmt"
)

// usage is an error in how a command was called.
type usage struct{ error }

func (u *usage) Unwrap() error { return u.error }

// Usage marks an error as one in how the command was called.
func Usage(err error) error { return &usage{err} }

// Usagef returns an error that says how the command was called wrongly.
func Usagef(format string, a ...any) error { return Usage(fmt.Errorf(format, a...)) }

// IsUsage reports whether the command was called wrongly.
func IsUsage(err error) bool {
	var wrong *usage
	return errors.As(err, &wrong)
}
