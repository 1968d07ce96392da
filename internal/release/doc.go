// Package release says what this program was made from, and who vouches for a release's file. The maintainers sign in
// minisign's format, and every build knows their public key.
//
//	SHA256SUMS.minisig ── signs ─▶ SHA256SUMS ── lists ─▶ muster_1.2.0_windows_amd64.zip
//	                                                              │ holds
//	                                                              ▼
//	                               muster.exe.minisig ── signs ─▶ muster.exe
//
// A signature names its file and release in a comment that is signed as well:
//
//	trusted comment: timestamp:1795334400	file:muster_1.2.0_windows_amd64.zip	version:1.2.0
//
// So an older release, or another of its files, cannot pass under a false name. A checksum from the file's own server
// proves nothing, and is ignored unless it is signed.
package release
