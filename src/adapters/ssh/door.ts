import type { Secret } from '../../std/index.ts'

/** A key that somebody shows. */
export interface PublicKey {
  /** Such as `ssh-ed25519`. */
  readonly type: string
  /** As the second word of a line of authorized_keys. */
  readonly blob: string
}

/** What an authority says of the holder of a key. */
export interface UserCertificate {
  readonly key: PublicKey
  readonly serial: bigint
  /** A word for the log of whoever is shown it. */
  readonly keyId: string
  readonly principals: readonly string[]
  /** From then on, and until then: milliseconds since the epoch. */
  readonly since: number
  readonly until: number
  /** What it may be used for only, which whoever does not understand it must refuse. */
  readonly criticalOptions: ReadonlyMap<string, string>
  readonly extensions: ReadonlyMap<string, string>
}

/** Says who gets in. It must take as long for somebody who does not exist. */
export interface SshDoor {
  /** Whether this key would do: a client asks before it signs. */
  takesKey(user: string, key: PublicKey): boolean
  /** The key is proved. `undefined`: it does not let in. */
  byKey(user: string, key: PublicKey): SshVisitor | undefined
  /** How the password of that user is judged, whether there is one or not. Without it none is asked for. */
  byPassword?: ((user: string) => PasswordJudge | undefined) | undefined
  /** Without it certificates let nobody in. */
  certificates?: CertificateDoor | undefined
}

export type PasswordJudge = (password: Secret<string>) => Promise<SshVisitor | undefined>

/** Says whom the certificates of an authority let in. */
export interface CertificateDoor {
  /** Of the authority that counts now, as a line has it; none counts without one. */
  authority(): string | undefined
  /** Why it does not count, whatever the user: a client asks before it signs. */
  whyNot(certificate: UserCertificate): string | undefined
  /** Its key is proved. `undefined`: it does not let in. */
  enter(user: string, certificate: UserCertificate): Promise<SshVisitor | undefined>
}

/** Somebody has logged in. Whatever these do, they throw nothing. */
export interface SshVisitor {
  /** The user name: what one person has open is held down together. */
  readonly person: string
  entered(line: SshLine): void
  run(program: SshProgram, channel: SshChannel): void
  /** Joins the port of the workspace's loopback with a channel, which `accept` opens. Throws while it has not been accepted. */
  connect(port: number, accept: () => SshChannel): Promise<void>
  /** Something was asked for that nobody gets. */
  refused(what: string): void
}

/** The connection of somebody who has logged in. */
export interface SshLine {
  /** Address of the other side. */
  readonly from: string
  cut(): void
  readonly closed: AbortSignal
}

export interface SshProgram {
  readonly kind: 'shell' | 'command' | 'subsystem'
  /** The command, or the name of the subsystem. */
  readonly text: string
  readonly terminal: TerminalSize | undefined
  /** Of the language and the kind of terminal, and nothing else. */
  readonly variables: ReadonlyMap<string, string>
  /** Tells sizes of the terminal from then on. */
  onResize(listener: (size: TerminalSize) => void): void
  /** Without SIG: `INT`. */
  onSignal(listener: (name: string) => void): void
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** Bytes both ways. */
export interface SshChannel {
  /** Read once, at the reader's pace. Ends when the client sends no more, or is gone. */
  readonly input: AsyncIterable<Uint8Array>
  /** Resolves when the client can take more. After the end it does nothing. */
  write(bytes: Uint8Array, to?: 'stdout' | 'stderr'): Promise<void>
  /** No more comes; with the exit code of a program. */
  end(code?: number): void
  /** The client has closed it, or is gone. */
  readonly closed: AbortSignal
  /** Bytes that the client has sent. */
  received(): number
}
