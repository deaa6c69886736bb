import { Failure, isFailure } from '../../std/index.ts'
import type { SshChannel } from './door.ts'
import { createOpenFolders, type OpenFolders } from './sftp-folders.ts'
import {
  attributesIn,
  type FileAttributes,
  MOST_BYTES,
  PACKET,
  type PacketReader,
  packet,
  packetsOf,
  packetWith,
  readerOf,
} from './sftp-packets.ts'
import { strings, uint32, uint64 } from './wire.ts'

/** Files, as clients of SFTP see them. What cannot be done throws: `not-found`, `forbidden`, or another failure with a sentence. */
export interface SftpFiles {
  /** Where a path leads, without links in it. */
  realPath(path: string): Promise<string>
  look(path: string, followsLinks: boolean): Promise<FileAttributes>
  list(path: string): Promise<readonly FileEntry[]>
  open(path: string, how: OpenFlags, attributes: FileAttributes): Promise<OpenFile>
  change(path: string, attributes: FileAttributes): Promise<void>
  makeFolder(path: string, attributes: FileAttributes): Promise<void>
  removeFolder(path: string): Promise<void>
  remove(path: string): Promise<void>
  rename(from: string, to: string, replaces: boolean): Promise<void>
  readLink(path: string): Promise<string>
  link(path: string, leadsTo: string): Promise<void>
}

export interface FileEntry {
  name: string
  attributes: FileAttributes
}

export interface OpenFlags {
  reads: boolean
  writes: boolean
  appends: boolean
  creates: boolean
  truncates: boolean
  isNew: boolean
}

export interface OpenFile {
  path: string
  /** In pieces as they come, which nobody joins: none at the end. */
  read(at: number, most: number): Promise<readonly Buffer[]>
  write(at: number, bytes: Buffer): Promise<void>
  /** Everything written is there, or it throws. */
  settle(): Promise<void>
  close(): Promise<void>
}

const VERSION = 3
const STATUS = { ok: 0, end: 1, noSuchFile: 2, denied: 3, failed: 4, bad: 5, unsupported: 8 } as const
const MOST_HANDLES = 64
/** Entries of a folder in one answer. */
const MOST_ENTRIES = 100
const EXTENSIONS: readonly [string, string][] = [
  ['posix-rename@openssh.com', '1'],
  ['limits@openssh.com', '1'],
]

type Handle = { file: OpenFile } | { entries: readonly FileEntry[]; at: number }

interface Frame {
  files: SftpFiles
  folders: OpenFolders
  handles: Map<string, Handle>
  /** Of the handles so far. */
  count: { number: number }
}

/** Speaks SFTP with a client until it ends. One request after another: the client may send many at once, and none is kept in memory. */
export async function serveSftp(channel: SshChannel, files: SftpFiles, folders = createOpenFolders()): Promise<void> {
  const frame: Frame = { files, folders, handles: new Map(), count: { number: 0 } }
  try {
    for await (const bytes of packetsOf(channel.input))
      for (const piece of [await answerTo(bytes, frame)].flat()) await channel.write(piece)
  } finally {
    for (const handle of frame.handles.values()) await close(handle, frame).catch(() => undefined) // Nobody is there to be told.
  }
}

async function answerTo(bytes: Buffer, frame: Frame): Promise<Buffer | readonly Buffer[]> {
  const reader = readerOf(bytes)
  const type = reader.byte()
  if (type === PACKET.init) return packet(PACKET.version, uint32(VERSION), strings(...EXTENSIONS.flat()))
  const id = reader.number()
  try {
    return (
      (await answers[type]?.(uint32(id), reader, frame)) ?? statusOf(uint32(id), STATUS.unsupported, 'this is not known here')
    )
  } catch (thrown) {
    const failure = Failure.from(thrown)
    return statusOf(uint32(id), codeOf(failure), failure.message.slice(0, 400))
  }
}

function codeOf(failure: Failure): number {
  if (isFailure(failure, 'not-found')) return STATUS.noSuchFile
  if (isFailure(failure, 'forbidden')) return STATUS.denied
  return isFailure(failure, 'invalid') ? STATUS.bad : STATUS.failed
}

const statusOf = (id: Buffer, code: number, words: string): Buffer =>
  packet(PACKET.status, id, uint32(code), strings(words), strings('en'))

const done = (id: Buffer): Buffer => statusOf(id, STATUS.ok, 'done')

type Answer = (id: Buffer, reader: PacketReader, frame: Frame) => Promise<Buffer | readonly Buffer[]>

const answers: Readonly<Record<number, Answer>> = {
  async [PACKET.open](id, reader, frame) {
    const [path, flags] = [reader.text(), reader.number()]
    return keep(id, frame, { file: await frame.files.open(path, flagsOf(flags), reader.attributes()) })
  },
  async [PACKET.close](id, reader, frame) {
    const name = reader.text()
    const handle = frame.handles.get(name)
    frame.handles.delete(name)
    if (!handle) return statusOf(id, STATUS.bad, 'this is not open')
    return after(id, close(handle, frame))
  },
  async [PACKET.read](id, reader, frame) {
    const file = fileOf(reader, frame)
    const pieces = await file.read(reader.long(), Math.min(reader.number(), MOST_BYTES))
    return pieces.length === 0 ? statusOf(id, STATUS.end, 'the end') : packetWith(pieces, PACKET.data, id)
  },
  async [PACKET.write](id, reader, frame) {
    const file = fileOf(reader, frame)
    await file.write(reader.long(), reader.blob())
    return done(id)
  },
  [PACKET.lstat]: (id, reader, { files }) => tell(id, files.look(reader.text(), false)),
  [PACKET.stat]: (id, reader, { files }) => tell(id, files.look(reader.text(), true)),
  async [PACKET.fstat](id, reader, frame) {
    const file = fileOf(reader, frame)
    await file.settle()
    return tell(id, frame.files.look(file.path, true))
  },
  [PACKET.setstat]: (id, reader, { files }) => after(id, files.change(reader.text(), reader.attributes())),
  async [PACKET.fsetstat](id, reader, frame) {
    const file = fileOf(reader, frame)
    await file.settle()
    return after(id, frame.files.change(file.path, reader.attributes()))
  },
  async [PACKET.opendir](id, reader, frame) {
    const path = reader.text()
    return keep(id, frame, { entries: await frame.folders.open(() => frame.files.list(path)), at: 0 })
  },
  async [PACKET.readdir](id, reader, { handles }) {
    const handle = handles.get(reader.text())
    if (!handle || 'file' in handle) return statusOf(id, STATUS.bad, 'this is no open folder')
    const entries = handle.entries.slice(handle.at, handle.at + MOST_ENTRIES)
    handle.at += entries.length
    if (entries.length === 0) return statusOf(id, STATUS.end, 'the end')
    const names = entries.flatMap((each) => [strings(each.name), strings(lineOf(each)), attributesIn(each.attributes)])
    return packet(PACKET.name, id, uint32(entries.length), ...names)
  },
  [PACKET.remove]: (id, reader, { files }) => after(id, files.remove(reader.text())),
  [PACKET.mkdir]: (id, reader, { files }) => after(id, files.makeFolder(reader.text(), reader.attributes())),
  [PACKET.rmdir]: (id, reader, { files }) => after(id, files.removeFolder(reader.text())),
  [PACKET.realpath]: (id, reader, { files }) => tellPath(id, files.realPath(reader.text())),
  [PACKET.rename]: (id, reader, { files }) => after(id, files.rename(reader.text(), reader.text(), false)),
  [PACKET.readlink]: (id, reader, { files }) => tellPath(id, files.readLink(reader.text())),
  // OpenSSH has them the other way round than the draft, and clients do as it does.
  [PACKET.symlink](id, reader, { files }) {
    const leadsTo = reader.text()
    return after(id, files.link(reader.text(), leadsTo))
  },
  async [PACKET.extended](id, reader, { files }) {
    const called = reader.text()
    if (called === 'posix-rename@openssh.com') return after(id, files.rename(reader.text(), reader.text(), true))
    if (called !== 'limits@openssh.com') return statusOf(id, STATUS.unsupported, 'this is not known here')
    return packet(
      PACKET.extendedReply,
      id,
      uint64(BigInt(MOST_BYTES + 1024)),
      uint64(BigInt(MOST_BYTES)),
      uint64(BigInt(MOST_BYTES)),
      uint64(BigInt(MOST_HANDLES)),
    )
  },
}

function keep(id: Buffer, frame: Frame, handle: Handle): Buffer {
  const { handles, count } = frame
  if (handles.size >= MOST_HANDLES) {
    close(handle, frame).catch(() => undefined) // It was never used.
    return statusOf(id, STATUS.failed, `more than ${MOST_HANDLES} files are open`)
  }
  const called = String(++count.number)
  handles.set(called, handle)
  return packet(PACKET.handle, id, strings(called))
}

async function close(handle: Handle, { folders }: Frame): Promise<void> {
  if ('file' in handle) await handle.file.close()
  else folders.close(handle.entries)
}

function fileOf(reader: PacketReader, { handles }: Frame): OpenFile {
  const handle = handles.get(reader.text())
  if (handle && 'file' in handle) return handle.file
  throw new Failure('invalid', 'this is no open file')
}

const tell = async (id: Buffer, looked: Promise<FileAttributes>): Promise<Buffer> =>
  packet(PACKET.attrs, id, attributesIn(await looked))

async function after(id: Buffer, work: Promise<void>): Promise<Buffer> {
  await work
  return done(id)
}

async function tellPath(id: Buffer, found: Promise<string>): Promise<Buffer> {
  const path = strings(await found)
  return packet(PACKET.name, id, uint32(1), path, path, attributesIn({}))
}

const flagsOf = (flags: number): OpenFlags => ({
  reads: (flags & 1) !== 0,
  writes: (flags & 2) !== 0,
  appends: (flags & 4) !== 0,
  creates: (flags & 8) !== 0,
  truncates: (flags & 16) !== 0,
  isNew: (flags & 32) !== 0,
})

const KINDS: Readonly<Record<number, string>> = { 4: 'd', 10: 'l', 8: '-', 1: 'p', 12: 's', 2: 'c', 6: 'b' }

/** As `ls -l` has it: clients show that. */
function lineOf({ name: called, attributes: { mode = 0, size = 0, owner, times } }: FileEntry): string {
  const rights = Array.from({ length: 9 }, (_, at) => ((mode >> (8 - at)) & 1 ? 'rwx'.charAt(at % 3) : '-')).join('')
  const time = new Date((times?.modified ?? 0) * 1000).toISOString().slice(0, 16).replace('T', ' ')
  return `${KINDS[mode >> 12] ?? '?'}${rights} 1 ${owner?.uid ?? 0} ${owner?.gid ?? 0} ${size} ${time} ${called}`
}
