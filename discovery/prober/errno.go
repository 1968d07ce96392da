package prober

import (
	"errors"
	"slices"
	"syscall"
)

func isErrno(err error, among ...syscall.Errno) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && slices.Contains(among, errno)
}
