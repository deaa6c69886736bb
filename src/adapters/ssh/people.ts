import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'
import type { Clock } from '../../std/index.ts'
import type { SocketReading } from './reading.ts'

/** Of one person at once. */
const MOST_CONNECTIONS = 32
/** The server of a target may hold up half a megabyte behind each. */
const MOST_CHANNELS_OF_ONE = 256
/** Bytes of one person that no program has taken yet: each of a connection's channels may have a window of 2 MiB. */
const MOST_UNREAD_OF_ONE = 32 * 2 ** 20
/** A connection with no more than that is never held: somebody looks there why a program takes nothing. */
const FEW = 2 ** 18
const AGAIN = 50

export interface PersonLine {
  socket: Socket
  reading: SocketReading
  /** Those that are open. */
  channels: Set<ServerChannel>
  /** Those that were asked for, and have not begun. */
  waiting: number
}

/** Holds down what each person has here in memory, however many connections and channels there are. */
export function createPeople(clock: Clock) {
  /** By name: the unread bytes of each connection when it was looked at last. */
  const people = new Map<string, Map<PersonLine, number>>()
  return {
    /**
     * `undefined` where there are as many as may be. Beyond the limit of bytes it is read on when programs have taken what is there. The
     * answer tells whether the person has as many channels as may be.
     */
    enter(person: string, line: PersonLine): (() => boolean) | undefined {
      const lines = people.get(person) ?? new Map<PersonLine, number>()
      if (lines.size >= MOST_CONNECTIONS) return undefined
      people.set(person, lines.set(line, 0))
      const { socket, reading } = line
      let cancel: (() => void) | undefined
      const hold = () => {
        cancel?.()
        cancel = undefined
        if (!isTooMuch(line, lines)) return reading.release('unread')
        reading.hold('unread')
        cancel = clock.after(AGAIN, hold)
      }
      socket.on('data', () => {
        lines.set(line, unreadOf(line))
        if (isTooMuch(line, lines)) hold()
      })
      socket.once('close', () => {
        cancel?.()
        lines.delete(line)
        if (lines.size === 0) people.delete(person)
      })
      return () => [...lines.keys()].reduce((sum, each) => sum + each.channels.size + each.waiting, 0) >= MOST_CHANNELS_OF_ONE
    },
  }
}

/** What was seen last is mostly too much, so all are looked at before somebody has to wait. */
function isTooMuch(line: PersonLine, lines: Map<PersonLine, number>): boolean {
  if (sumOf(lines) < MOST_UNREAD_OF_ONE) return false
  for (const each of lines.keys()) lines.set(each, unreadOf(each))
  return sumOf(lines) >= MOST_UNREAD_OF_ONE && unreadOf(line) > FEW
}

const sumOf = (lines: ReadonlyMap<PersonLine, number>): number => [...lines.values()].reduce((sum, bytes) => sum + bytes, 0)

function unreadOf({ channels }: PersonLine): number {
  let sum = 0
  for (const { readableLength } of channels) sum += readableLength
  return sum
}
