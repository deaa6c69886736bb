/** Who signed a commit, or why it is refused: `why` is read after the name of the commit. */
export type SignatureVerdict =
  | { readonly signer: string }
  | { readonly reason: 'CommitNotSigned' | 'CommitSignatureInvalid' | 'CommitSignerNotAllowed'; readonly why: string }
