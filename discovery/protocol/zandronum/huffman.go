package zandronum

import "encoding/hex"

// The code is a tree that all programs know: octets are its leaves from left to right, and
// depths their depths in hexadecimal digits.
const (
	octets = "802622506e90434af38e257c3ab624dd83f5a3237155294dc782ceb9994676030518c6be3f8bba4b2cf0da382827f4f7" +
		"5141097d443c19bf8a561117dcb2a5c20e00d0969db5ded8e6d3fc8d0a2a86876867bbe15f20393db7ede9eaf6cbfa93" +
		"4f81078f8814b3941c6a655742b4dbe3f11afbe5d63645e7d49cb05d5360fd1e0daffe5e9f1b08cce24e6b581f89a9d7" +
		"9106047f63d1d9d5eeb1aa84160c729ec5612d2e70aef9e066ab97c10f1002a8315b9230ad1d137e5cf2cdc0eb95ffdf" +
		"b8f86cec6f5a7573470b32bc777aa7a2a0857b153b9b9a622b4c33c974486d6479c3e81201a478bd49c4efd2403e5921" +
		"e4a13754982fcfac8c52a6356934cac8"
	depths = "4889aa89aa89988aaaa89989aa9aa99557aa9aa98aa988aa9899999aa999aaaa939aa88aa9aa98aa99aa5489aaaaaaaa" +
		"979aa9aa99998aaaa89aa88aaaa999999aa9999aa8999aaaa9879aaaaaa4998aa9889aa99aa99999899899999999aa99" +
		"98999999888999aa78998aa97889989989986799889988579988879988888899"
)

// node is a place in the tree. A leaf has no children.
type node struct {
	children [2]*node
	octet    byte
}

// root is the tree's.
var root = plant()

func plant() *node {
	leaves, err := hex.DecodeString(octets)
	if err != nil {
		panic(err)
	}
	root := &node{}
	path := 0 // to the next leaf, a bit a step, the highest first; it has as many bits as the last leaf is deep
	for i, octet := range leaves {
		depth := hexDigit(depths[i])
		if i > 0 {
			path++
			if before := hexDigit(depths[i-1]); depth >= before {
				path <<= depth - before
			} else {
				path >>= before - depth
			}
		}
		at := root
		for step := range depth {
			side := path >> (depth - 1 - step) & 1
			if at.children[side] == nil {
				at.children[side] = &node{}
			}
			at = at.children[side]
		}
		at.octet = octet
	}
	return root
}

func hexDigit(c byte) int {
	if c >= 'a' {
		return int(c-'a') + 10
	}
	return int(c - '0')
}

// plain is the first byte of a packet that is not packed.
const plain = 0xff

// unpack returns the bytes of a packet. Its first byte is how many bits at its end are no
// part of it. Each bit, from the lowest of a byte up, is a step down the tree.
func unpack(packed []byte) []byte {
	if len(packed) == 0 {
		return nil
	}
	if packed[0] == plain {
		return packed[1:]
	}
	bits := 8*(len(packed)-1) - int(packed[0])
	var b []byte
	at := root
	for i := range max(0, bits) {
		at = at.children[packed[1+i/8]>>(i%8)&1]
		if at.children[0] == nil {
			b, at = append(b, at.octet), root
		}
	}
	return b
}
