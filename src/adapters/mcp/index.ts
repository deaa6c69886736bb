/**
 * The Model Context Protocol: offers tools to a client that speaks it over a pair of streams. A tool says of itself what it
 * does and which fields it takes; whatever does not fit those is refused here, and each failure becomes a result that says so.
 * Not here: what any tool does. Read tool.ts, then fields.ts and serve.ts.
 */
export { choice, type Field, flag, list, optional, text, whole, wordsByName } from './fields.ts'
export { type McpServerOptions, serveTools } from './serve.ts'
export { type McpTool, type ToolAnswer, type ToolCall, tool } from './tool.ts'
