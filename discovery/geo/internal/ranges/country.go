package ranges

// CountryNumber is the number that stands for a code of two letters in a table;
// 0 is none.
func CountryNumber(code string) uint32 {
	if len(code) != 2 {
		return 0
	}
	return uint32(code[0])<<8 | uint32(code[1])
}

// CountryCode is the code that a number stands for, or empty.
func CountryCode(number uint32) string {
	if number == 0 {
		return ""
	}
	return string([]byte{byte(number >> 8), byte(number)})
}
