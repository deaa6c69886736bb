import type { Readable, Writable } from 'node:stream'
import { type CallToolResult, type JSONRPCMessage, McpServer, type ServerContext } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { aborted, asSentence, beginningOf, Failure, harmless, seconds, within } from '../../std/index.ts'
import { schemaOf } from './fields.ts'
import type { McpTool, ToolAnswer } from './tool.ts'

export interface McpServerOptions {
  name: string
  version: string
  /** For the model: how the tools are meant. */
  instructions: string
  tools: readonly McpTool[]
  /** Stands below what a call has failed with: others may have written parts of it. */
  aboutFailures: string
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
/** What the library refuses is said in so many characters. */
const MOST_REFUSAL = 400
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
  const transport = transportFor(options)
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

/** Messages go one behind the other: each that waits for its client has a listener of its own at the stream. */
function transportFor({ input, output }: McpServerOptions): StdioServerTransport {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: LONGEST_MESSAGE })
  const send = transport.send.bind(transport)
  let last: Promise<unknown> = Promise.resolve()
  transport.send = (message) => {
    const sent = last.then(() => send(bounded(message)))
    // Whoever sent it hears of that; the next one is sent all the same.
    last = sent.catch(() => undefined)
    return sent
  }
  return transport
}

/** The library says again whatever it does not know, such as the name of a tool, however long that is. */
function bounded(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message
  const { code, message: said, data } = message.error
  const isShort = data !== undefined && JSON.stringify(data).length <= MOST_SAID
  return { ...message, error: { code, message: harmless(beginningOf(said, MOST_REFUSAL)), ...(isShort && { data }) } }
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
      const work = resultOf(options, each, run, context, over)
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

async function resultOf(
  { aboutFailures }: McpServerOptions,
  { name }: McpTool,
  run: Run,
  { mcpReq }: ServerContext,
  over: AbortSignal,
): Promise<CallToolResult> {
  const notices = createNotices(mcpReq, over)
  try {
    const answer = await run({ signal: AbortSignal.any([mcpReq.signal, over]), progress: notices.tell })
    // Behind the result nobody hears of it.
    await notices.told()
    return toResult(answer)
  } catch (thrown) {
    const { message, remedy } = Failure.from(thrown)
    const said = harmless(`${name}: ${asSentence(message.trim())}${remedy ? ` ${remedy}` : ''}`)
    return refused(beginningOf(said, 2 * MOST_SAID), aboutFailures)
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
        .then(send({ progressToken, progress, message: beginningOf(harmless(message), MOST_SAID) }))
        // Whoever does not hear of it is gone, and the call ends with that.
        .catch(() => undefined)
        .finally(() => waiting--)
    },
    told: () => last,
  }
}

/** JSON stays the same JSON: what would speak to a terminal stands in its texts only, and is escaped there as JSON has it. */
const toResult = ({ data, texts = [harmless(JSON.stringify(data))], hasFailed = false }: ToolAnswer): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  ...(data && { structuredContent: data }),
  ...(hasFailed && { isError: true }),
})

const refused = (...texts: string[]): CallToolResult => ({
  content: texts.map((text) => ({ type: 'text', text })),
  isError: true,
})
