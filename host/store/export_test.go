package store

// RecordOfLater returns a record as a later version could write it.
func RecordOfLater(key string, data []byte) []byte {
	record, _ := appendRecord(nil, key, head{}, data)
	record[len(opening)]++
	copy(record[len(opener):], sumOf(record))
	return record
}
