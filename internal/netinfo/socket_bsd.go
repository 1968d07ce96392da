//go:build unix && !linux

package netinfo

const bookkeeping = 1

func canStamp(int) bool { return false } // the prober does not use timestamps here
