// Texts as words, and what differs between two texts.

const WORD = /[\p{L}\p{N}]+(?:[’'\-.][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]/gu;

/** The words and marks of a text with their places: [{text, start, end}], in code points as the server counts. */
export function tokens(text) {
  const isPlain = text.length === Array.from(text).length;
  return [...text.matchAll(WORD)].map((found) => {
    const start = isPlain ? found.index : Array.from(text.slice(0, found.index)).length;
    return { text: found[0], start, end: start + Array.from(found[0]).length, at: found.index };
  });
}

export const isWord = (token) => /[\p{L}\p{N}]/u.test(token);

/** The words of `after`, each with whether `before` has it too, in the same order: [{text, isNew, gap}]. */
export function changes(before, after) {
  const one = tokens(before).map((token) => token.text.toLowerCase());
  const other = tokens(after);
  const words = other.map((token) => token.text.toLowerCase());
  const longest = Array.from({ length: one.length + 1 }, () => new Uint16Array(words.length + 1));
  for (let i = one.length - 1; i >= 0; i--)
    for (let j = words.length - 1; j >= 0; j--)
      longest[i][j] = one[i] === words[j] ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
  const kept = new Set();
  for (let i = 0, j = 0; i < one.length && j < words.length;) {
    if (one[i] === words[j]) { kept.add(j); i++; j++; } else if (longest[i + 1][j] >= longest[i][j + 1]) i++; else j++;
  }
  let end = 0;
  return other.map((token, at) => {
    const gap = after.slice(end, token.at);
    end = token.at + token.text.length;
    return { text: token.text, gap, isNew: !kept.has(at) };
  });
}

/** What two texts share at their beginning and end, by words: [before, in `one`, in `other`, after]. */
export function difference(one, other) {
  const a = one.match(/\s+|[^\s\p{L}\p{N}]|[\p{L}\p{N}]+/gu) ?? [];
  const b = other.match(/\s+|[^\s\p{L}\p{N}]|[\p{L}\p{N}]+/gu) ?? [];
  let left = 0;
  while (left < Math.min(a.length, b.length) && a[left] === b[left]) left++;
  let right = 0;
  while (right < Math.min(a.length, b.length) - left && a.at(-1 - right) === b.at(-1 - right)) right++;
  const cut = (parts) => parts.slice(left, parts.length - right).join("");
  return [a.slice(0, left).join(""), cut(a), cut(b), a.slice(a.length - right).join("")];
}

/** The keywords in a line, as the command line reads them: phrases in quotes, others by blanks or commas. */
export const keywordsIn = (line) => [...line.matchAll(/["“”„]([^"“”„]*)["“”„]|([^\s,，]+)/g)]
  .map((found) => (found[1] ?? found[2]).trim()).filter(Boolean);
