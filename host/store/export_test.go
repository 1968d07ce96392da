package store

// RecordOfLater is a record as a later version may write it.
func RecordOfLater(key string, data []byte) []byte {
	record, _ := appendRecord(nil, key, head{}, data)
	record[len(opening)]++
	copy(record[len(opener):], sumOf(record))
	return record
}
