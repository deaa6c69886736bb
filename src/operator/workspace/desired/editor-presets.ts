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
  // It comes with its own libraries, and what it starts is to have those of its container.
  Terminal: {
    folder: '/usr/lib/terminal',
    start: `lib=$BERTH_TOOLS_DIR/editor/lib
shell=$(command -v bash || command -v sh)
export LD_LIBRARY_PATH="$lib/plugins"
exec "$lib"/ld-linux-*.so.* --library-path "$lib" "$BERTH_TOOLS_DIR/editor/bin/ttyd" --port "$BERTH_EDITOR_PORT" \\
  --writable --check-origin env -u LD_LIBRARY_PATH "$shell"`,
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
  words="the image has no folder $1, from which the editor of the WorkspaceClass comes"
  echo "$words" >&2
  [ ! -w /dev/termination-log ] || printf '%s' "$words" > /dev/termination-log
  exit 1
fi
mkdir -p "$BERTH_TOOLS_DIR/editor"
cp -R "$1/." "$BERTH_TOOLS_DIR/editor"
printf '%s\\n' "$2" > "$BERTH_TOOLS_DIR/start"
chmod +x "$BERTH_TOOLS_DIR/start"
`

/** Editors open in the project, if their container has it, and keep settings in the home; where nobody may write that, they go with the pod. */
const BEFORE = `#!/bin/sh
[ ! -d "$PROJECT_SOURCE" ] || cd "$PROJECT_SOURCE"
if [ ! -w "\${HOME:-}" ]; then
  export HOME="$BERTH_TOOLS_DIR/home"
  mkdir -p "$HOME"
fi
`

/** The editor with the image that brings it, which a preset says where the class does not. */
export function withPresetImage(editor: Editor | undefined, workspaceImage: string): Editor | undefined {
  if (!editor?.preset || editor.image) return editor
  return { ...editor, image: PRESETS[editor.preset].image ?? workspaceImage }
}

/** What its init container runs; nothing where the image does it by itself. */
export function bringCommandOf({ preset }: Editor): { command?: string[] } {
  if (!preset) return {}
  const { folder, start } = PRESETS[preset]
  return { command: ['sh', '-c', BRING, 'sh', folder, BEFORE + start] }
}
