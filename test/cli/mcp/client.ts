import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { MAIN, ROOT } from '../berth.ts'

interface CallOptions {
  signal?: AbortSignal
  onprogress?: (progress: { message?: string | undefined }) => void
}

/** `berth mcp` as a process of its own, and the library's own client of it. */
export interface McpClient {
  client: Client
  pid: number
  /** What a tool answers: its texts as one, its data, and whether it is an error. */
  call(name: string, given?: Record<string, unknown>, options?: CallOptions): Promise<Said>
  close(): Promise<void>
}

export interface Said {
  text: string
  /** Not looked over: a test knows what it has asked for. */
  // biome-ignore lint/suspicious/noExplicitAny: as said above
  data: any
  isError: boolean
}

export async function mcpClient(kubeconfig: string, ...flags: string[]): Promise<McpClient> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MAIN, 'mcp', '--kubeconfig', kubeconfig, ...flags],
    cwd: ROOT,
    stderr: 'inherit',
  })
  await client.connect(transport)
  return {
    client,
    pid: transport.pid ?? 0,
    async call(name, given = {}, { signal, onprogress } = {}) {
      const answer = await client.callTool(
        { name, arguments: given },
        { timeout: 120_000, ...(signal && { signal }), ...(onprogress && { onprogress }) },
      )
      const text = answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
      return { text, data: answer.structuredContent, isError: answer.isError === true }
    },
    close: () => client.close(),
  }
}
