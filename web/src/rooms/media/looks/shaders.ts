/**
 * The edit as a fragment shader: sample the photo, look up the table, apply vignette and grain.
 *
 * Uses only `texelFetch` and no GPU filtering, which differs between vendors: the result has to match the server's
 * (`media/looks/apply_edit.py`, `finish.py`) within two steps of 255.
 */
export const VERTEX = `#version 300 es
void main() {
  vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(corner * 2.0 - 1.0, 0.0, 1.0);
}`;

export const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler3D;

uniform sampler2D photo;
uniform sampler3D table;
uniform ivec2 size;
uniform vec4 transform;
uniform int turns;
uniform bool mirrored;
uniform float vignette;
uniform float grain;
out vec4 colour;

vec3 step255(vec3 value) { return floor(clamp(value, 0.0, 1.0) * 255.0 + 0.5); }

vec3 fetchTurned(ivec2 at) {
  ivec2 source = textureSize(photo, 0);
  ivec2 turned = (turns & 1) == 1 ? source.yx : source;
  at = clamp(at, ivec2(0), turned - 1);
  if (mirrored) at.x = turned.x - 1 - at.x;
  if (turns == 1) at = ivec2(at.y, source.y - 1 - at.x);
  else if (turns == 2) at = source - 1 - at;
  else if (turns == 3) at = ivec2(source.x - 1 - at.y, at.x);
  return texelFetch(photo, at, 0).rgb;
}

vec3 sampleAt(vec2 at) {
  vec2 corner = floor(at);
  vec2 part = at - corner;
  ivec2 base = ivec2(corner);
  vec3 upper = mix(fetchTurned(base), fetchTurned(base + ivec2(1, 0)), part.x);
  vec3 lower = mix(fetchTurned(base + ivec2(0, 1)), fetchTurned(base + ivec2(1, 1)), part.x);
  return mix(upper, lower, part.y);
}

vec3 lookUp(vec3 value) {
  vec3 at = value * 32.0;
  ivec3 base = min(ivec3(at), ivec3(31));
  vec3 part = at - vec3(base);
  vec3 sum = vec3(0.0);
  for (int corner = 0; corner < 8; corner++) {
    ivec3 offset = ivec3(corner & 1, (corner >> 1) & 1, corner >> 2);
    vec3 share = mix(1.0 - part, part, vec3(offset));
    sum += texelFetch(table, base + offset, 0).rgb * share.x * share.y * share.z;
  }
  return sum;
}

float hash(uint x, uint y) {
  uint mixed = x * 0x9E3779B1u + y * 0x85EBCA77u;
  mixed ^= mixed >> 15u;
  mixed *= 0x2C1B3C6Du;
  mixed ^= mixed >> 12u;
  mixed *= 0x297A2D39u;
  return float(mixed >> 24u);
}

float grainAt(uvec2 at) {
  return hash(at.x, at.y) + hash(at.x + 1u, at.y) + hash(at.x, at.y + 1u)
    + hash(at.x + 1u, at.y + 1u) - 510.0;
}

void main() {
  ivec2 at = ivec2(int(gl_FragCoord.x), size.y - 1 - int(gl_FragCoord.y));
  vec2 middle = vec2(at) + 0.5;
  vec2 source = vec2(transform.x * middle.x + transform.y * middle.y, transform.x * middle.y - transform.y * middle.x) + transform.zw;
  vec3 done = step255(lookUp(step255(sampleAt(transform.y == 0.0 ? vec2(at) + transform.zw : source - 0.5)) / 255.0));
  float tone = done.g / 255.0;
  vec2 away = middle / vec2(size) - 0.5;
  float distance = 2.0 * dot(away, away);
  done *= 1.0 - 0.8 * vignette * distance * distance;
  done += grainAt(uvec2(at)) * (72.0 * grain / 510.0) * (0.2 + 3.2 * tone * (1.0 - tone));
  colour = vec4(floor(clamp(done, 0.0, 255.0) + 0.5) / 255.0, 1.0);
}`;
