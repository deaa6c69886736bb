import type { ObjectOptions } from '../find-object.ts'
import { withKubeconfig, withNamespace } from '../options.ts'
import { actionVerb } from '../verb.ts'

interface Options extends ObjectOptions {
  readOnly?: boolean
}

export const verb = actionVerb({
  description:
    'Speak the Model Context Protocol over standard input and output: programs such as editors and assistants look after workspaces and GitOpsDeployments by it. They have your rights and no others: they may do what kubectl lets you do. What creates, deletes or synchronises is a dry run unless the program says otherwise. The program starts this command itself; it ends with its standard input.',
  examples: [
    ['{"mcpServers": {"berth": {"command": "berth", "args": ["mcp"]}}}', "in the client's configuration"],
    ['berth mcp --read-only', 'offer only what changes nothing'],
    ['berth mcp --context staging -n team-a', 'another cluster, another namespace'],
  ],
  options: (command) =>
    withNamespace(withKubeconfig(command), 'where a tool is told none').option(
      '--read-only',
      'offer only tools that change nothing',
    ),
  // The library of the protocol is loaded for whoever speaks it only.
  run: async (shell, options: Options) => (await import('./serve.ts')).serve({ shell, options }, options.readOnly === true),
})
