import type { Secret } from '../../std/index.ts'

/** A key that somebody shows. */
export interface PublicKey {
  /** Such as `ssh-ed25519`. */
  readonly type: string
  /** As the second word of a line of authorized_keys. */
  readonly blob: string
}

/** Says who gets in. It must take as long for somebody who does not exist. */
export interface SshDoor {
  /** Whether this key would do: a client asks before it signs. */
  takesKey(user: string, key: PublicKey): boolean
  /** The key is proved. `undefined`: it does not let in. */
  byKey(user: string, key: PublicKey): SshVisitor | undefined
  /** Without it nobody is asked for one. */
  byPassword?: ((user: string, password: Secret<string>) => Promise<SshVisitor | undefined>) | undefined
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
