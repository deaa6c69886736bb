import type { Readable, Writable } from 'node:stream'
import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { aborted, asSentence, beginningOf, Failure, seconds, within } from '../../std/index.ts'
import { schemaOf } from './fields.ts'
import type { McpTool, ToolAnswer } from './tool.ts'

export interface McpServerOptions {
  name: string
  version: string
  /** For the model: how the tools are meant. */
  instructions: string
  tools: readonly McpTool[]
  /** So many calls are under way at once; one more is refused. */
  callsAtOnce: number
  input: Readable
  output: Writable
  /** Hears of messages that are none. */
  warn(message: string): void
}

/** A message of a client; the longest is a file of 1 MiB each of whose bytes is written as six characters. */
const LONGEST_MESSAGE = 10 * 2 ** 20
/** What a message of ours has of the words of others. */
const MOST_SAID = 4096
/** What is under way at the end may tidy up for so long. */
const TIDY_WITHIN = seconds(3)

/** Serves one client until it closes the input, or the signal comes. Then all that is under way is ended, and waited for. */
export async function serveTools(options: McpServerOptions, signal: AbortSignal): Promise<void> {
  const { input, output, warn } = options
  const gone = new AbortController()
  const leave = () => gone.abort()
  for (const event of ['end', 'close', 'error']) input.once(event, leave)
  output.once('error', leave)
  const over = AbortSignal.any([signal, gone.signal])
  const underWay = new Set<Promise<unknown>>()
  const transport = new StdioServerTransport(input, output, { maxBufferSize: LONGEST_MESSAGE })
  const handle = serveStdio(() => serverFor(options, underWay, over), {
    transport,
    onerror: ({ message }) => warn(beginningOf(message, 400)),
  })
  // It closes itself where a message is too long, and reads on no more.
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    leave()
  }
  await aborted(over)
  await handle.close()
  await within(TIDY_WITHIN, undefined, (late) => Promise.race([Promise.allSettled(underWay), aborted(late)]))
}

function serverFor(options: McpServerOptions, underWay: Set<Promise<unknown>>, over: AbortSignal): McpServer {
  const { name, version, instructions, tools, callsAtOnce } = options
  const server = new McpServer({ name, version }, { instructions, capabilities: { tools: { listChanged: false } } })
  for (const each of tools) {
    const annotations = {
      readOnlyHint: each.effect === 'reads',
      destructiveHint: each.effect === 'destroys',
      openWorldHint: false,
    }
    const { title, description } = each
    const call = async (run: Run, context: ServerContext) => {
      if (underWay.size >= callsAtOnce)
        return refused(
          `${each.name}: ${callsAtOnce} calls are under way, and no more are taken at once. Wait until one is answered.`,
        )
      const work = resultOf(each, run, context, over)
      underWay.add(work)
      try {
        return await work
      } finally {
        underWay.delete(work)
      }
    }
    server.registerTool(each.name, { title, description, annotations, inputSchema: inputOf(each) }, call)
  }
  return server
}

type Run = Extract<ReturnType<McpTool['prepare']>, { run: unknown }>['run']

/** The tool's own words about its arguments, by the interface that the library asks (standardschema.dev). */
const inputOf = (wanted: McpTool) => ({
  '~standard': {
    version: 1 as const,
    vendor: 'berth',
    validate(given: unknown) {
      const prepared = wanted.prepare(given)
      if ('run' in prepared) return { value: prepared.run }
      return { issues: [{ message: prepared.wrong.join(' ') }] }
    },
    jsonSchema: { input: () => schemaOf(wanted.fields), output: () => schemaOf(wanted.fields) },
    types: undefined as unknown as { input: unknown; output: Run }, // it exists for the compiler only
  },
})

async function resultOf({ name }: McpTool, run: Run, { mcpReq }: ServerContext, over: AbortSignal): Promise<CallToolResult> {
  const notices = createNotices(mcpReq, over)
  try {
    const answer = await run({ signal: AbortSignal.any([mcpReq.signal, over]), progress: notices.tell })
    // Behind the result nobody hears of it.
    await notices.told()
    return toResult(answer)
  } catch (thrown) {
    const { message, remedy } = Failure.from(thrown)
    return refused(beginningOf(`${name}: ${asSentence(message.trim())}${remedy ? ` ${remedy}` : ''}`, 2 * MOST_SAID))
  }
}

/** Of a client that does not read, so many are kept for it. */
const MOST_NOTICES = 100

/** Progress of one call, each notice behind the one before it. */
function createNotices(mcpReq: ServerContext['mcpReq'], over: AbortSignal) {
  const progressToken = mcpReq._meta?.progressToken
  let progress = 0
  let waiting = 0
  let last = Promise.resolve()
  const send = (params: Record<string, unknown>) => async () => {
    if (!over.aborted && !mcpReq.signal.aborted) await mcpReq.notify({ method: 'notifications/progress', params })
  }
  return {
    tell(message: string): void {
      if (progressToken === undefined || waiting >= MOST_NOTICES) return
      progress++
      waiting++
      last = last
        .then(send({ progressToken, progress, message: beginningOf(message, MOST_SAID) }))
        // Whoever does not hear of it is gone, and the call ends with that.
        .catch(() => undefined)
        .finally(() => waiting--)
    },
    told: () => last,
  }
}

const toResult = ({ data, texts = [JSON.stringify(data)], hasFailed = false }: ToolAnswer): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  ...(data && { structuredContent: data }),
  ...(hasFailed && { isError: true }),
})

const refused = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })
