import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { equal, is, match, ok } from 'uvu/assert'
import { createOpenFolders, serveSftp } from '../../../src/adapters/ssh/index.ts'
import { PACKET, packet, packetsOf, readerOf } from '../../../src/adapters/ssh/sftp-packets.ts'
import { strings, uint32 } from '../../../src/adapters/ssh/wire.ts'
import { podFiles } from '../../../src/proxy/ssh/pod-files.ts'
import { failureOf, refusalOf } from '../../support/refusal.ts'
import { describe } from '../../support/suite.ts'
import { lacksOpenSsh } from '../ssh-client.ts'
import { localPlace } from './local-pod.ts'

const SERVER = join(import.meta.dirname, 'sftp-server.ts')

describe(
  'SFTP by what any image has',
  (it) => {
    let folder = ''
    let root = ''
    it.before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'berth-sftp-'))
      root = join(folder, 'root')
    })
    it.beforeEach(async () => {
      await rm(folder, { recursive: true })
      for (const each of [folder, root]) await mkdir(each)
    })
    it.after(() => rm(folder, { recursive: true }))
    const sftp = (...lines: string[]): Promise<{ code: number; said: string }> =>
      new Promise((resolve) => {
        const words = ['-b', '-', '-D', `${process.execPath} ${SERVER} ${root}`]
        const child = execFile('sftp', words, (error, stdout, stderr) =>
          resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
        )
        child.stdin?.end(`${lines.join('\n')}\n`)
      })

    it('keeps to the words that a client sends, whatever they are', async () => {
      for (const name of ['-rf', '$(touch x)', "a'b", 'a;b', '`id`', 'a  b']) {
        await writeFile(join(folder, 'one'), name)
        const quoted = `"${name.replaceAll('"', '\\"')}"`
        const { code, said } = await sftp(
          `put ${folder}/one ./${quoted}`,
          `rename ./${quoted} "./${name}.2"`,
          `get "./${name}.2" ${folder}/two`,
        )
        equal([name, code, said.includes('rror')], [name, 0, false], said)
        is(await readFile(join(folder, 'two'), 'utf8'), name)
        equal(await readdir(root), [`${name}.2`])
        is((await sftp(`rm "./${name}.2"`)).code, 0)
      }
    })

    it('says no as an sftp-server does', async () => {
      await mkdir(join(root, 'folder'))
      await writeFile(join(root, 'file'), 'old')
      await writeFile(join(folder, 'one'), 'new')
      for (const [line, words] of [
        ['get none', 'not found'],
        [`put ${folder}/one none/none`, 'No such file'],
        ['rmdir none', 'No such file'],
        ['mkdir folder', 'Failure'],
        ['rename file folder', 'Failure'],
        ['rm folder', /Failure|not/],
        ['chmod 600 none', 'No such file'],
      ] as const) {
        const { code, said } = await sftp(line)
        equal([line, code], [line, 1], said)
        match(said, words, line)
      }
      equal((await readdir(root)).toSorted(), ['file', 'folder'])
    })

    it('follows links as an sftp-server does, and takes away the link alone', async () => {
      await writeFile(join(root, 'file'), 'there')
      await symlink('file', join(root, 'link'))
      await symlink('nowhere', join(root, 'broken'))
      const { code, said } = await sftp(`get link ${folder}/got`, 'ls -l', 'rm link', 'rm broken')
      is(code, 0, said)
      match(said, /^l\S+ .*link$/m)
      equal(await readdir(root), ['file'])
      is(await readFile(join(folder, 'got'), 'utf8'), 'there')
    })

    it('calls files by their names, whatever spaces and ends of lines are in them', async () => {
      const names = ['notes', 'notes ', ' notes', 'notes\n', 'é\u3000', 'two  words']
      for (const name of names) await writeFile(join(root, name), name)
      const { signal } = new AbortController()
      const files = podFiles(localPlace(root), root, signal)
      const listed = (await files.list('.')).map(({ name }) => name).filter((name) => name !== '.')
      equal(listed.toSorted(), names.toSorted())
      for (const name of names) is((await files.look(name, true)).size, Buffer.byteLength(name))
      await files.remove('notes ')
      equal((await readdir(root)).toSorted(), names.filter((name) => name !== 'notes ').toSorted())
    })

    it('ends no download as whole whose program broke off', async () => {
      await writeFile(join(root, 'file'), Buffer.alloc(100_000, 'x'))
      const { signal } = new AbortController()
      const place = localPlace(root)
      const breaking = await podFiles(place, root, signal).open('file', flags({ reads: true }), {})
      await rm(join(root, 'file'))
      match((await failureOf(() => breaking.read(0, 10))).message, 'No such file')
      match((await failureOf(() => breaking.read(0, 10))).message, 'No such file')
    })

    it('keeps so many names of open folders, of all channels together', async () => {
      const folders = createOpenFolders()
      const many = Array.from({ length: 90_000 }, () => ({ name: 'x', attributes: {} }))
      const open = () => folders.open(async () => many)
      await open()
      const second = await open()
      match((await failureOf(open)).message, 'more than 200000 names together')
      folders.close(second)
      await open()
    })

    it('reads on where it was, and from elsewhere', async () => {
      const text = Buffer.from(Array.from({ length: 400_000 }, (_, at) => at % 251))
      await writeFile(join(root, 'file'), text)
      const { signal } = new AbortController()
      const file = await podFiles(localPlace(root), root, signal).open('file', flags({ reads: true }), {})
      for (const [at, most] of [
        [0, 100],
        [100, 200_000],
        [200_100, 300_000],
        [400_000, 10],
        [900_000, 10],
        [5, 10],
        [399_999, 10],
      ] as const)
        ok(Buffer.concat(await file.read(at, most)).equals(text.subarray(at, at + most)), String(at))
      await file.close()
    })

    it('writes from the beginning on and behind the end, and tells what is nowhere', async () => {
      await writeFile(join(root, 'file'), 'a long line')
      const { signal } = new AbortController()
      const files = podFiles(localPlace(root), root, signal)
      const over = await files.open('file', flags({ writes: true }), {})
      await over.write(0, Buffer.from('the'))
      await over.write(3, Buffer.from('y'))
      await over.close()
      is(await readFile(join(root, 'file'), 'utf8'), 'theyng line')
      const behind = await files.open('file', flags({ writes: true }), {})
      await behind.write(11, Buffer.from('!'))
      await behind.close()
      is(await readFile(join(root, 'file'), 'utf8'), 'theyng line!')
      const between = await files.open('file', flags({ writes: true }), {})
      const writing = async () => {
        await between.write(5, Buffer.from('x'))
        await between.close()
      }
      match((await failureOf(writing)).message, 'only from its beginning or end on')
      is(await readFile(join(root, 'file'), 'utf8'), 'theyng line!')
      const anew = () => files.open('file', flags({ writes: true, creates: true, isNew: true }), {})
      match((await failureOf(anew)).message, 'File exists')
      await files.change('file', { size: 4, mode: 0o10_0640, times: { accessed: 5, modified: 7 } })
      const { size, mode, mtimeMs, atimeMs } = await stat(join(root, 'file'))
      equal([size, mode & 0o777, atimeMs, mtimeMs], [4, 0o640, 5000, 7000])
      for (const path of ['a\0b', 'x'.repeat(5000)]) match(await refusalOf(files.look(path, true)), 'the path is none')
    })

    it('ends at a packet that is none, and answers one that is wrong', async () => {
      const answers = async (...packets: Buffer[]): Promise<Buffer[]> => {
        const given: Buffer[] = []
        const { signal } = new AbortController()
        const channel = {
          input: (async function* () {
            // In pieces that are no packets.
            const all = Buffer.concat(packets)
            for (let at = 0; at < all.length; at += 7) yield all.subarray(at, at + 7)
          })(),
          write: async (bytes: Uint8Array) => void given.push(Buffer.from(bytes)),
          end: () => undefined,
          closed: signal,
          received: () => 0,
        }
        await serveSftp(channel, podFiles(localPlace(root), root, signal))
        const read: Buffer[] = []
        for await (const each of packetsOf(
          (async function* () {
            yield* given
          })(),
        ))
          read.push(each)
        return read
      }
      const id = uint32(9)
      const status = (bytes: Buffer | undefined) => {
        const reader = readerOf(bytes ?? Buffer.alloc(0))
        return [reader.byte(), reader.number(), reader.number()]
      }
      const wrong = [
        packet(PACKET.read, id, strings('7'), uint32(0), uint32(0), uint32(10)),
        packet(PACKET.open, id, uint32(1000)),
        packet(PACKET.close, id, strings('1')),
        packet(PACKET.readdir, id, strings('1')),
        packet(99, id),
        packet(PACKET.extended, id, strings('fsync@openssh.com')),
        packet(PACKET.write, id, strings('1'), Buffer.alloc(8, 255), strings('x')),
      ]
      const said = await answers(packet(PACKET.init, uint32(3)), ...wrong)
      is(said[0]?.[0], PACKET.version)
      equal(
        said.slice(1).map((each) => status(each)),
        [5, 5, 5, 5, 8, 8, 5].map((code) => [PACKET.status, 9, code]),
      )
      for (const length of [0, 300_000, 2 ** 32 - 1])
        match(await refusalOf(answers(uint32(length))), 'a packet of SFTP is too long')
      await writeFile(join(root, 'file'), '')
      const opening = packet(PACKET.open, id, strings('file'), uint32(1), uint32(0))
      const many = await answers(...Array.from({ length: 66 }, () => opening))
      equal(
        many.slice(63).map((each) => each[0]),
        [PACKET.handle, PACKET.status, PACKET.status],
      )
    })
  },
  lacksOpenSsh(),
)

const flags = (set: object) => ({
  ...{ reads: false, writes: false, appends: false, creates: false, truncates: false, isNew: false },
  ...set,
})
