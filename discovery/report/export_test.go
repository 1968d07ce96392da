package report

// ReadUpTo is Read with a bound of the test's choice.
var ReadUpTo = readUpTo
