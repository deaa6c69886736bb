/** Who asks the proxies for a certificate logs in over SSH as this user, which no workspace has, and runs one command. */
export const SSH_CERTIFICATES_USER = 'berth'

/** An extension of our own: the groups of the person, as they were when it was issued, for nobody can be asked later without a token. */
export const SSH_GROUPS = 'groups@berth.dev'

/** What somebody wants to be certified. */
export interface CertificateWish {
  /** How long it is to count, seconds. */
  seconds: number
  /** Its second word, as a line of authorized_keys has it. Keys are ed25519. */
  key: string
}

export const certificateCommand = ({ seconds, key }: CertificateWish): string => `certificate ${seconds} ssh-ed25519 ${key}`

/** `undefined` for any other command. */
export function certificateWishIn(command: string): CertificateWish | undefined {
  const [, seconds, key] = /^certificate ([1-9]\d{0,6}) ssh-ed25519 ([A-Za-z0-9+/]{68})$/.exec(command) ?? []
  return key === undefined ? undefined : { seconds: Number(seconds), key }
}
