// Package release says what this program was made from, and who vouches for a file of a
// release: the maintainers sign in minisign's form, and every build knows their public
// key.
//
//	SHA256SUMS.minisig ── signs ─▶ SHA256SUMS ── lists ─▶ muster_1.2.0_windows_amd64.zip
//	                                                              │ holds
//	                                                              ▼
//	                               muster.exe.minisig ── signs ─▶ muster.exe
//
// What the key signs says of which file of which release it speaks, in the comment that
// is signed along with it:
//
//	trusted comment: timestamp:1795334400	file:muster_1.2.0_windows_amd64.zip	version:1.2.0
//
// so that an older release, or another file of it, is told apart from what its name
// claims. A sum from whoever served the file proves nothing, and is not looked at unless
// it is signed.
package release
