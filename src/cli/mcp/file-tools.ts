import { choice, type McpTool, optional, type ToolCall, text, tool, whole } from '../../adapters/mcp/index.ts'
import { beginningOf, Failure, harmless, seconds } from '../../std/index.ts'
import { createClipped, createWhole } from './clipped.ts'
import { saidIn } from './exec-tools.ts'
import { type ContainerPlace, insideFields, insideOf, runInside } from './inside.ts'
import { filesIn, isUnwritten, LIST_SCRIPT, READ_SCRIPT, REASONS, WRITE_SCRIPT } from './scripts.ts'
import type { McpSession } from './session.ts'

/** A file, bytes. */
const MOST_FILE = 2 ** 20
const MOST_NAMES = 500
/** Of what the script says that went wrong, bytes. */
const MOST_SAID = 4096
const TIME = seconds(60)

const path = (what: string) =>
  text(`${what}: a path from the folder of the project on, or from /`, {
    pattern: [/^[^\0]+$/, 'a path, without a NUL in it'],
  })

export const fileTools = (session: McpSession): McpTool[] => [listFiles(session), readFile(session), writeFile(session)]

const listFiles = (session: McpSession): McpTool =>
  tool({
    name: 'list_files',
    title: 'List files of a workspace',
    description: 'List what is in a folder of a running Workspace: names, kinds (file, folder, link, other) and sizes in bytes.',
    effect: 'reads',
    fields: {
      ...insideFields,
      path: optional(path('The folder')),
      limit: whole('At most so many of them', { least: 1, most: MOST_NAMES, otherwise: 200 }),
      continue: optional(
        text('Go on behind a page: what it answered as `continue`', { pattern: [/^\d{1,9}$/, 'what a page answered'] }),
      ),
    },
    run: ({ path: folder = '.', limit, continue: from = '0', ...wanted }, call) =>
      insideOf(session, call, wanted, async (inside) => {
        const found = await ask(inside, call, { script: LIST_SCRIPT, words: [folder, from, String(limit)], path: folder })
        const { files, hasMore } = filesIn(found.toString('utf8'))
        const next = hasMore ? { continue: String(Number(from) + files.length) } : {}
        return { data: { note: saidIn(inside.title), path: folder, files, ...next } }
      }),
  })

const readFile = (session: McpSession): McpTool =>
  tool({
    name: 'read_file',
    title: 'Read a file of a workspace',
    description:
      'Read a file of a running Workspace, 1 MiB at a time; not below /proc, /sys or where Secrets are mounted. What is no UTF-8 is answered as base64.',
    effect: 'reads',
    fields: {
      ...insideFields,
      path: path('The file'),
      offset: whole('Begin behind so many bytes', { least: 0, most: Number.MAX_SAFE_INTEGER, otherwise: 0 }),
    },
    run: ({ path: file, offset, ...wanted }, call) =>
      insideOf(session, call, wanted, async (inside) => {
        const words = [file, String(offset), String(MOST_FILE + 1)]
        const found = await ask(inside, call, { script: READ_SCRIPT, words, path: file, enough: MOST_FILE + 1 })
        const { content, length, encoding, hasMore } = pageOf(found)
        const more = hasMore ? ` It has more: go on with offset ${offset + length}.` : ''
        return {
          texts: [`${length} bytes as ${encoding}, from byte ${offset} on.${more} ${saidIn(inside.title)}`, content],
        }
      }),
  })

interface Page {
  content: string
  length: number
  encoding: 'utf-8' | 'base64'
  hasMore: boolean
}

/** Pure. As text where it is one; a character that the end of a page has cut in two is left for the next one. */
export function pageOf(found: Buffer): Page {
  const bytes = found.subarray(0, MOST_FILE)
  const hasMore = found.length > MOST_FILE
  try {
    const content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: hasMore })
    return { content, length: Buffer.byteLength(content), encoding: 'utf-8', hasMore }
  } catch {
    // It is no text.
    return { content: bytes.toString('base64'), length: bytes.length, encoding: 'base64', hasMore }
  }
}

const writeFile = (session: McpSession): McpTool =>
  tool({
    name: 'write_file',
    title: 'Write a file of a workspace',
    description:
      'Write a file of a running Workspace, 1 MiB at most: all that was in it before is replaced. Its folder has to be there.',
    effect: 'destroys',
    fields: {
      ...insideFields,
      path: path('The file'),
      content: text('What is to be in it', { most: 2 * MOST_FILE }),
      encoding: optional(choice<'utf-8' | 'base64'>('How the content is written; utf-8 without it', ['utf-8', 'base64'])),
    },
    run: ({ path: file, content, encoding = 'utf-8', ...wanted }, call) => {
      const input = bytesFrom(content, encoding)
      return insideOf(session, call, wanted, async (inside) => {
        await ask(inside, call, { script: WRITE_SCRIPT, words: [file, String(input.length)], path: file, input })
        return { data: { written: input.length, path: file } }
      })
    },
  })

function bytesFrom(content: string, encoding: 'utf-8' | 'base64'): Buffer {
  const input = Buffer.from(content, encoding)
  if (encoding === 'base64' && (content.length % 4 !== 0 || input.toString('base64') !== content))
    throw new Failure('invalid', 'content is no base64.', { remedy: 'Write it with the padding, on one line, or use utf-8.' })
  if (input.length <= MOST_FILE) return input
  throw new Failure('too-large', `content has ${input.length} bytes, and ${MOST_FILE} is the most.`, {
    remedy: 'Make the file in the workspace with exec_in_workspace.',
  })
}

interface Question {
  script: string
  words: readonly string[]
  /** For messages. */
  path: string
  input?: Buffer
  /** With so many bytes it is answered, whatever its end says: what has no more to do may say that its pipe broke. */
  enough?: number
}

async function ask(inside: ContainerPlace, call: ToolCall, question: Question): Promise<Buffer> {
  const { path: file, enough = Number.POSITIVE_INFINITY, ...rest } = question
  const [stdout, stderr] = [createWhole(MOST_FILE + 1), createClipped(MOST_SAID)]
  const { code, mayStillRun } = await runInside(inside, { ...rest, within: TIME, stdout, stderr }, call)
  if (code === 0 || (code !== undefined && stdout.size() >= enough)) return stdout.bytes()
  const object = `${inside.title}, path ${beginningOf(JSON.stringify(file), 1024)}`
  if (code === undefined) {
    const and = mayStillRun ? ', and what was asked for may still run' : ''
    throw new Failure('timeout', `no answer within ${TIME / 1000} s${and}`, { object })
  }
  const known = REASONS.get(code)
  const said = beginningOf(harmless(stderr.text().trim()), 400)
  const theirs = said && ` ${saidIn(inside.title)} ${JSON.stringify(said)}`
  const remedy = isUnwritten(code)
    ? 'See whether the disk is full, and who may write there.'
    : 'Name another path, or see with list_files what is there.'
  throw new Failure('invalid', `${known ?? `it could not be done, and ended with exit code ${code}`}.${theirs}`, {
    object,
    remedy,
  })
}
