import type { Socket } from 'node:net'
import type { ServerChannel, Session } from 'ssh2'
import { isHarmless } from '../../std/index.ts'
import { channelOf, endingWith } from './channel.ts'
import type { SshProgram, SshVisitor, TerminalSize } from './door.ts'

const VARIABLES = /^(LANG|LC_[A-Z]{1,20}|TERM)$/
const LONGEST_VALUE = 128
const MOST_VARIABLES = 24
const LONGEST_COMMAND = 128 * 1024

/** Of a connection that somebody has logged in by. */
export interface SessionFrame {
  visitor: SshVisitor
  socket: Socket
  /** The connection is gone. */
  gone: AbortSignal
  /** Hears of each channel, for as long as it is open. */
  follow(channel: ServerChannel, over: AbortSignal): void
}

/** Collects what a client says of the program that it wants, and begins it. */
export function followSession(session: Session, frame: SessionFrame): void {
  const { visitor } = frame
  const variables = new Map<string, string>()
  const heard: { terminal?: TerminalSize; resize?: (size: TerminalSize) => void; signal?: (name: string) => void } = {}
  const over = endingWith(frame.gone)
  session.on('close', () => over.abort())
  const keep = (name: string, value: string) => {
    const isFit = VARIABLES.test(name) && value.length <= LONGEST_VALUE && isHarmless(value) && !/[\n\r]/.test(value)
    if (isFit && variables.size < MOST_VARIABLES) variables.set(name, value)
  }

  const begin = (kind: SshProgram['kind'], text: string, accept: () => ServerChannel) => {
    const channel = accept()
    // The library gives none when the session has ended meanwhile, whatever its types say.
    if (channel === undefined) return
    frame.follow(channel, over.signal)
    const program: SshProgram = {
      ...{ kind, text, terminal: heard.terminal, variables },
      onResize(listener) {
        heard.resize = listener
      },
      onSignal(listener) {
        heard.signal = listener
      },
    }
    visitor.run(program, channelOf(channel, frame.socket, over))
  }

  session.on('env', (accept, _reject, { key, val }) => {
    // OpenSSH takes no notice of others either, and clients do not ask.
    keep(key, val)
    yes(accept)
  })
  session.on('pty', (accept, _reject, info) => {
    heard.terminal = sizeOf(info)
    // The name of the terminal is in it, which the types leave out.
    if ('term' in info && typeof info.term === 'string') keep('TERM', info.term)
    yes(accept)
  })
  session.on('window-change', (accept, _reject, info) => {
    heard.resize?.(sizeOf(info))
    yes(accept)
  })
  session.on('signal', (accept, _reject, { name }) => {
    heard.signal?.(name)
    yes(accept)
  })
  session.on('shell', (accept) => begin('shell', '', accept))
  session.on('exec', (accept, reject, { command }) => {
    if (command.length > LONGEST_COMMAND) reject()
    else begin('command', command, accept)
  })
  session.on('subsystem', (accept, reject, { name }) => {
    if (name === 'sftp') begin('subsystem', name, accept)
    else reject()
  })
  for (const what of ['auth-agent', 'x11'])
    session.on(what, (_accept: unknown, reject: (() => void) | undefined) => {
      visitor.refused(what === 'x11' ? 'forwarding of X11' : 'forwarding of an agent')
      reject?.()
    })
}

/** There is none where the client wants no answer, whatever the types say. */
const yes = (accept: (() => void) | undefined): void => accept?.()

const MOST_CELLS = 10_000

const sizeOf = ({ cols, rows }: { cols: number; rows: number }): TerminalSize => ({
  columns: Math.min(cols, MOST_CELLS) || 80,
  rows: Math.min(rows, MOST_CELLS) || 24,
})
