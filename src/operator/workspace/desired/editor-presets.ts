import type { V1Container } from '@kubernetes/client-node'
import type { WorkspaceClassSpec } from '../../../api/index.ts'

type Editor = NonNullable<WorkspaceClassSpec['editor']>

interface EditorPreset {
  /** What brings it. Without one, the image that clones and packs for workspaces does. */
  image?: string
  /** Where that image has it. It is copied to $BERTH_TOOLS_DIR/editor. */
  folder: string
  /** Starts it in a container that knows nothing of it. Who may come in is for the proxy to say: no editor asks for a password. */
  start: string
}

const PRESETS: Record<Exclude<NonNullable<Editor['preset']>, ''>, EditorPreset> = {
  // It comes with its own libraries, and what it starts has those of its container, and what that says of them.
  Terminal: {
    folder: '/usr/lib/terminal',
    start: `set -- "$(command -v bash || command -v sh)"
[ -z "\${LD_PRELOAD+x}" ] || set -- "LD_PRELOAD=$LD_PRELOAD" "$@"
if [ -n "\${LD_LIBRARY_PATH+x}" ]; then
  set -- "LD_LIBRARY_PATH=$LD_LIBRARY_PATH" "$@"
else
  set -- -u LD_LIBRARY_PATH "$@"
fi
unset LD_PRELOAD
lib=$BERTH_TOOLS_DIR/editor/lib
export LD_LIBRARY_PATH="$lib/plugins"
exec "$lib"/ld-linux-*.so.* --library-path "$lib" "$BERTH_TOOLS_DIR/editor/bin/ttyd" --port "$BERTH_EDITOR_PORT" \\
  --writable --check-origin --ping-interval 30 --client-option "titleFixed=$BERTH_WORKSPACE" env "$@"`,
  },
  // Its --port goes before PORT of the workspace; that of its --bind-addr does not.
  CodeServer: {
    image: 'codercom/code-server:4.130.0',
    folder: '/usr/lib/code-server',
    start: `exec "$BERTH_TOOLS_DIR/editor/bin/code-server" --auth none --host 0.0.0.0 --port "$BERTH_EDITOR_PORT" \\
  --disable-telemetry --disable-update-check "$PWD"`,
  },
  OpenVSCode: {
    image: 'gitpod/openvscode-server:1.105.1',
    folder: '/home/.openvscode-server',
    start: `exec "$BERTH_TOOLS_DIR/editor/bin/openvscode-server" --without-connection-token --telemetry-level off \\
  --host 0.0.0.0 --port "$BERTH_EDITOR_PORT" --default-folder "$PWD"`,
  },
}

const BRING = `set -eu
if [ ! -d "$1" ]; then
  echo "the image has no folder $1, from which the editor of the WorkspaceClass comes" >&2
  exit 1
fi
rm -rf "$BERTH_TOOLS_DIR/editor"
cp -R "$1" "$BERTH_TOOLS_DIR/editor"
printf '%s\\n' "$2" > "$BERTH_TOOLS_DIR/start"
chmod +x "$BERTH_TOOLS_DIR/start"
`

/** Editors open in the project, if their container has it, and keep settings in the home; where nobody may write that, they go with the pod. */
const BEFORE = `#!/bin/sh
[ ! -d "$PROJECT_SOURCE" ] || cd "$PROJECT_SOURCE"
[ -w "\${HOME:-}" ] || export HOME="$BERTH_TOOLS_DIR/home"
[ -w "\${TMPDIR:-/tmp}" ] || export TMPDIR="$BERTH_TOOLS_DIR/tmp"
mkdir -p "$HOME" "\${TMPDIR:-/tmp}"
`

/** The editor with the image that brings it, which a preset says where the class does not. */
export function withPresetImage(editor: Editor | undefined, workspaceImage: string): Editor | undefined {
  if (!editor?.preset || editor.image) return editor
  return { ...editor, image: PRESETS[editor.preset].image ?? workspaceImage }
}

/** What its init container runs, of which the last words are told; nothing where the image does it by itself. */
export function bringCommandOf({ preset }: Editor): Pick<V1Container, 'command' | 'terminationMessagePolicy'> {
  if (!preset) return {}
  const { folder, start } = PRESETS[preset]
  return { command: ['sh', '-c', BRING, 'sh', folder, BEFORE + start], terminationMessagePolicy: 'FallbackToLogsOnError' }
}
